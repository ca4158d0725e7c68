import { parseTranscriptLine, type TranscriptLine } from "../../protocol/index.ts";

/** The format that is written today. */
export const CURRENT_VERSION = 3;

export interface UpgradedLine {
  readonly text: string;
  readonly parsed: TranscriptLine;
}

/** Ids of entries that have none: their position, so that another run gives the same ones. */
const idAt = (seq: number): string => seq.toString(16).padStart(8, "0");

function upgradeMessage(entry: Record<string, unknown>): void {
  const message = entry["message"] as { role?: unknown } | undefined;
  if (message?.role === "hookMessage") entry["message"] = { ...message, role: "custom" };
}

/** Format 1 was a list without ids; each entry hangs on the one before it, and a compaction counted lines. */
function addTree(entry: Record<string, unknown>, seq: number, lastId: string | undefined): void {
  entry["id"] ??= idAt(seq);
  if (entry["parentId"] === undefined) entry["parentId"] = lastId ?? null;
  const kept = entry["firstKeptEntryIndex"];
  if (typeof kept === "number") {
    delete entry["firstKeptEntryIndex"];
    if (kept > 0) entry["firstKeptEntryId"] ??= idAt(kept);
  }
}

/**
 * A line of an older format as today's format has it; a line of today's passes unchanged, to the byte. `seq` is its position,
 * `lastId` the id of the entry before it.
 */
export function upgradeLine(line: UpgradedLine, version: number, seq: number, lastId: string | undefined): UpgradedLine {
  if (version >= CURRENT_VERSION) return line;
  if (line.parsed.kind === "header") {
    const text = JSON.stringify({ ...line.parsed.header, version: CURRENT_VERSION });
    return { text, parsed: parseTranscriptLine(text)! };
  }
  const entry: Record<string, unknown> = { ...line.parsed.entry };
  if (version < 2) addTree(entry, seq, lastId);
  upgradeMessage(entry);
  const text = JSON.stringify(entry);
  return { text, parsed: parseTranscriptLine(text)! };
}

/** The format of a file, from its first line. */
export function versionOf(first: TranscriptLine): number {
  if (first.kind === "entry") return typeof first.entry.id === "string" ? CURRENT_VERSION : 1;
  return typeof first.header.version === "number" ? first.header.version : 1;
}

/** The header of a file that has none. */
export function madeUpHeader(sessionId: string, at: number): UpgradedLine {
  const text = JSON.stringify({ type: "session", version: CURRENT_VERSION, id: sessionId, timestamp: new Date(at).toISOString(), cwd: "" });
  return { text, parsed: parseTranscriptLine(text)! };
}
