import { clip } from "../../base/text.ts";
import { block } from "./blocks.ts";
import type { TouchedFiles } from "./files.ts";

/** What follows a summary by rule, whatever the model wrote. */
export interface Pins {
  readonly files: TouchedFiles;
  readonly standing: readonly string[];
  /** Open approvals, processes in the background, requests without an answer: one line each. */
  readonly pending: readonly string[];
  /** Sections of AGENTS.md. */
  readonly rules: readonly string[];
}

/** Shares of the room for each; what one does not need is left to the summary. */
const SHARES = { standing: 0.3, pending: 0.15, rules: 0.15, files: 0.1 } as const;
const MAX_PENDING_CHARS = 400;

/** The last lines that fit, and how many did not. */
function lastLines(lines: readonly string[], chars: number): { readonly kept: readonly string[]; readonly left: number } {
  let room = chars;
  let from = lines.length;
  while (from > 0 && room >= lines[from - 1]!.length + 1) room -= lines[(from -= 1)]!.length + 1;
  return { kept: lines.slice(from), left: from };
}

function list(lines: readonly string[], chars: number, note: (left: number) => string): readonly string[] {
  const { kept, left } = lastLines(lines, chars);
  return left === 0 ? kept : [note(left), ...kept];
}

const oneLine = (text: string): string => text.replaceAll(/\s+/g, " ").trim();

/** The blocks behind a summary, within about 0.7 of `maxChars`. Of lists that are too long the latest stay, and the rest is counted. */
export function pinnedText({ files, standing, pending, rules }: Pins, maxChars: number): string {
  const room = (share: number): number => Math.floor(maxChars * share);
  const more = (left: number): string => `(${left} earlier ones are in the transcript)`;
  const bullets = (lines: readonly string[]): readonly string[] => lines.map((line) => `- ${oneLine(line)}`);
  const sections = clip(rules.join("\n\n"), room(SHARES.rules));
  return [
    block("read-files", list(files.read, room(SHARES.files / 2), more)),
    block("modified-files", list(files.modified, room(SHARES.files / 2), more)),
    block("standing-instructions", list(bullets(standing), room(SHARES.standing), more)),
    block("pending-work", list(bullets(pending.map((line) => clip(oneLine(line), MAX_PENDING_CHARS))), room(SHARES.pending), more)),
    block("workspace-rules", sections === "" ? [] : [sections]),
  ]
    .filter((text) => text !== "")
    .join("\n\n");
}
