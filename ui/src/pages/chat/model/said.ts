import type { ChatEntry, RunView } from "./state.ts";

type Fields = Readonly<Record<string, unknown>>;

export const fieldsOf = (value: unknown): Fields => (typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {});
export const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

/** Blocks of one type in content of any form. */
export function blocksOf(content: unknown, type: string): readonly Fields[] {
  return Array.isArray(content) ? content.map(fieldsOf).filter((block) => block["type"] === type) : [];
}

/** The texts in content of any form. */
export function saidIn(content: unknown): string {
  if (typeof content === "string") return content;
  return blocksOf(content, "text")
    .map((block) => textOf(block["text"]))
    .join("\n\n");
}

export const thoughtIn = (content: unknown): string =>
  blocksOf(content, "thinking")
    .map((block) => textOf(block["thinking"]))
    .filter((thought) => thought !== "")
    .join("\n\n");

/** Ids of the calls that entries make. */
export function callIds(entries: readonly ChatEntry[]): ReadonlySet<string> {
  return new Set(entries.flatMap(({ kind, content }) => (kind === "assistant" ? blocksOf(content, "toolCall").map((block) => textOf(block["id"])) : [])));
}

/** Ids of the calls whose results are among entries. */
export function resultIds(entries: readonly ChatEntry[]): ReadonlySet<string> {
  return new Set(entries.flatMap(({ kind, toolCallId }) => (kind === "tool" && toolCallId !== undefined ? [toolCallId] : [])));
}

/** True when an entry may be of a run: it says so, or it says nothing and is not older. */
export const isEntryOf = (entry: ChatEntry, run: Pick<RunView, "runId" | "startedAt">): boolean =>
  entry.runId === run.runId || (entry.runId === undefined && entry.ts >= run.startedAt);

/** True when an answer of a run stands in the transcript with these words. */
export function answeredBy(entries: readonly ChatEntry[], run: Pick<RunView, "runId" | "startedAt">, text: string): boolean {
  const words = text.trim();
  return entries.some((entry) => entry.kind === "assistant" && isEntryOf(entry, run) && saidIn(entry.content).trim() === words);
}

/** A line that names a file that came with a message. */
const FILE_LINE = /^📎 (.+)$/u;
/** A line that says what became of a file. */
const FILE_NOTE = /^\[media: (.+)\]$/;

/** A message apart from what the gateway wrote behind it about the files that came with it. */
export function withoutFileLines(text: string): { readonly words: string; readonly names: readonly string[]; readonly notes: readonly string[] } {
  const lines = text.split("\n");
  const last = lines.findLastIndex((line) => line.trim() !== "" && !FILE_LINE.test(line) && !FILE_NOTE.test(line));
  // What stands above the first name of a file is the user's own.
  const first = lines.findIndex((line, at) => at > last && FILE_LINE.test(line));
  if (first === -1) return { words: text.trimEnd(), names: [], notes: [] };
  const about = lines.slice(first);
  const found = (pattern: RegExp): readonly string[] => about.flatMap((line) => pattern.exec(line)?.[1] ?? []);
  return { words: lines.slice(0, first).join("\n").trimEnd(), names: found(FILE_LINE), notes: found(FILE_NOTE) };
}
