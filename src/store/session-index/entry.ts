import { createHash } from "node:crypto";
import { resolve } from "node:path";
import type { StatementSync } from "node:sqlite";
import { withParts } from "../sqlite/areas/session-parts.ts";
import { isPrivateField } from "../private-fields.ts";
import { writtenSession, type FileRecord } from "./record.ts";

type Sql = (text: string) => StatementSync;

/** A row of `sessions` as read for its file. */
export interface StoredSession {
  readonly key: string;
  readonly agentId: string;
  readonly sessionId: string;
  readonly version: number;
  readonly updatedAt: number;
  readonly entry: string;
}

/** The live transcript of a session; most are at the documented location. */
function transcriptOf(sql: Sql, { agentId, sessionId }: StoredSession): string | undefined {
  const row = sql("SELECT file FROM transcripts WHERE agent_id = ? AND session_id = ? AND archived_at IS NULL ORDER BY tid LIMIT 1").get(agentId, sessionId);
  return row && String(row["file"]);
}

/**
 * An entry as in the documented file: paths are absolute, the parent key uses the file's spelling, and fields that only this program may
 * set are left out.
 */
export function fileEntry(sql: Sql, stateDir: string, record: FileRecord | undefined, session: StoredSession): Record<string, unknown> {
  const whole = withParts(sql, session.key, JSON.parse(session.entry));
  const entry: Record<string, unknown> = Object.fromEntries(Object.entries(whole).filter(([field]) => !isPrivateField(field)));
  const file = whole.sessionFile ?? transcriptOf(sql, session);
  if (file !== undefined) entry["sessionFile"] = resolve(stateDir, file);
  if (record && whole.spawnedBy !== undefined) entry["spawnedBy"] = writtenSession(sql, record, whole.spawnedBy)?.writtenAs ?? whole.spawnedBy;
  return entry;
}

/** Hash of the entry's JSON. */
export function digestOf(entry: unknown): string {
  return createHash("sha256").update(JSON.stringify(entry)).digest("base64url").slice(0, 22);
}

/** One property of the index, indented by two like the whole file. */
export function entryText(key: string, entry: unknown): string {
  return `  ${JSON.stringify(key)}: ${JSON.stringify(entry, null, 2).replaceAll("\n", "\n  ")}`;
}
