import type { StatementSync } from "node:sqlite";
import type { SessionEntry } from "../../../protocol/index.ts";
import { fromJson } from "../handlers.ts";

type Sql = (text: string) => StatementSync;

/** Long fields of an entry that rarely change: they have rows of their own, so that a turn does not write them. */
export const PARTS = ["systemPromptReport", "skillsSnapshot"] as const;

/** The entry as written with each turn. */
export function withoutParts(entry: SessionEntry): SessionEntry {
  const { systemPromptReport: _report, skillsSnapshot: _skills, ...rest } = entry;
  return rest;
}

/** The whole entry. A field that is still in it is newer than its row: another version of this program wrote it. */
export function withParts(sql: Sql, key: string, entry: SessionEntry): SessionEntry {
  const rows = sql("SELECT name, value FROM session_parts WHERE session_key = ?").all(key);
  if (rows.length === 0) return entry;
  return { ...entry, ...Object.fromEntries(rows.map(({ name, value }) => [name, fromJson(value)])), ...entry };
}

/** Writes a field, or removes it. */
export function savePart(sql: Sql, key: string, name: (typeof PARTS)[number], value: unknown): void {
  if (value === undefined || value === null) {
    sql("DELETE FROM session_parts WHERE session_key = ? AND name = ?").run(key, name);
    return;
  }
  const text = "INSERT INTO session_parts (session_key, name, value) VALUES (?, ?, ?) ON CONFLICT (session_key, name) DO UPDATE SET value = excluded.value";
  sql(text).run(key, name, JSON.stringify(value));
}
