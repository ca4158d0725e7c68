import type { TranscriptEntry } from "../../protocol/index.ts";
import { blockLines, withoutBlocks } from "./blocks.ts";
import type { TouchedFiles } from "./files.ts";

/** What an earlier compaction left. */
export interface PreviousSummary {
  /** Its words, without what was added by rule. */
  readonly text: string;
  readonly files: TouchedFiles;
  /** What the user wants to hold for good, word for word. */
  readonly standing: readonly string[];
}

const texts = (value: unknown): readonly string[] | undefined =>
  Array.isArray(value) ? value.filter((one): one is string => typeof one === "string" && one.trim() !== "") : undefined;

/** Reads a compaction of any origin: lists come from `details`, else from the text. */
export function previousOf(entry: TranscriptEntry): PreviousSummary {
  const summary = typeof entry["summary"] === "string" ? entry["summary"].toWellFormed() : "";
  const { details } = entry;
  const known = (typeof details === "object" && details !== null ? details : {}) as Readonly<Record<string, unknown>>;
  return {
    text: withoutBlocks(summary),
    files: {
      read: texts(known["readFiles"]) ?? blockLines(summary, "read-files"),
      modified: texts(known["modifiedFiles"]) ?? blockLines(summary, "modified-files"),
    },
    standing: texts(known["standing"]) ?? blockLines(summary, "standing-instructions").map((line) => line.replace(/^- /, "")),
  };
}
