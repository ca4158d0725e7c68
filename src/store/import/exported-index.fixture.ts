import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import type { SessionEntry } from "../../protocol/index.ts";
import { withParts } from "../sqlite/areas/session-parts.ts";
import { createStatements } from "../sqlite/connection.ts";

/** The documented `sessions.json` of one agent: entries by key, newest first, `sessionFile` as an absolute path. */
export function exportIndex(db: DatabaseSync, agentId: string, stateDir: string): Record<string, SessionEntry> {
  const index: Record<string, SessionEntry> = {};
  const sql = createStatements(db);
  for (const row of db.prepare("SELECT key, entry FROM sessions WHERE agent_id = ? ORDER BY updated_at DESC, key").iterate(agentId)) {
    const entry = withParts(sql, String(row["key"]), JSON.parse(String(row["entry"])) as SessionEntry);
    index[String(row["key"])] = entry.sessionFile === undefined ? entry : { ...entry, sessionFile: join(stateDir, entry.sessionFile) };
  }
  return index;
}
