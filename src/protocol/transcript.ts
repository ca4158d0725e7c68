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

const isTyped = (value: unknown): value is TranscriptEntry => isRecord(value) && typeof value["type"] === "string";
const isHeader = (value: TranscriptEntry): value is TranscriptEntry & TranscriptHeader => value.type === "session" && typeof value.id === "string";

/** Reads one line of a transcript file. Undefined when it is not a JSON object with a `type`. */
export function parseTranscriptLine(line: string): TranscriptLine | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (!isTyped(value)) return undefined;
  if (value.type !== "session") return { kind: "entry", entry: value };
  return isHeader(value) ? { kind: "header", header: value } : undefined;
}

/**
 * One row of the session index, as the documented `sessions.json` holds it. `sessionId` and `updatedAt` are always there. Fields that this
 * version does not know are kept as they are: an entry that passes through here loses nothing.
 */
export interface SessionEntry {
  readonly sessionId: string;
  /** Milliseconds since the epoch. */
  readonly updatedAt: number;
  readonly sessionFile?: string;
  readonly label?: string;
  readonly displayName?: string;
  /** Session key of the session that spawned this one. */
  readonly spawnedBy?: string;
  readonly spawnDepth?: number;
  readonly systemSent?: boolean;
  readonly abortedLastRun?: boolean;
  readonly chatType?: string;
  readonly channel?: string;
  readonly lastChannel?: string;
  readonly model?: string;
  readonly modelProvider?: string;
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly totalTokens?: number;
  readonly totalTokensFresh?: boolean;
  readonly contextTokens?: number;
  readonly [field: string]: unknown;
}
