import { isRecord } from "../base/records.ts";

/** The first line of a transcript file. Not part of the tree. */
export interface TranscriptHeader {
  readonly type: "session";
  readonly version?: number;
  readonly id: string;
  /** ISO time. */
  readonly timestamp: string;
  readonly cwd?: string;
  readonly parentSession?: string;
}

/** Every other line: a node of the session's tree. Fields beyond these depend on `type` and are kept as they are. */
export interface TranscriptEntry {
  readonly type: string;
  /** Eight hexadecimal digits, unique in its file. Files of format 1 have none. */
  readonly id?: string;
  readonly parentId?: string | null;
  /** ISO time. */
  readonly timestamp?: string;
  readonly [field: string]: unknown;
}

export type TranscriptLine = { readonly kind: "header"; readonly header: TranscriptHeader } | { readonly kind: "entry"; readonly entry: TranscriptEntry };

/** Reads one line of a transcript file. Undefined when it is not a JSON object with a `type`. */
export function parseTranscriptLine(line: string): TranscriptLine | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (!isRecord(value) || typeof value["type"] !== "string") return undefined;
  if (value["type"] !== "session") return { kind: "entry", entry: value as TranscriptEntry };
  return typeof value["id"] === "string" ? { kind: "header", header: value as unknown as TranscriptHeader } : undefined;
}
