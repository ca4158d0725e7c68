import { createTextMatcher, eraseInJson, ERASED, type TextMatcher } from "../../../base/erase-text.ts";
import type { RedactionReads, RedactionWrites } from "../../areas/redaction.ts";
import { allRows } from "../../rows.ts";
import type { ReadContext, ReadHandlers, WriteHandlers } from "../handlers.ts";

interface Table {
  readonly name: string;
  /** Columns that identify a row. */
  readonly key: readonly string[];
  readonly texts: readonly string[];
  readonly json: readonly string[];
  /** Which rows are an agent's; its id is bound once. */
  readonly ofAgent: string;
}

const byKey = (column: string): string => `instr(${column}, 'agent:' || ? || ':') = 1 OR ${column} IN ('global', 'unknown')`;

const TABLES: readonly Table[] = [
  { name: "inbox", key: ["id"], texts: ["text", "why"], json: ["payload"], ofAgent: `agent_id = ? OR agent_id IS NULL` },
  { name: "turns", key: ["id"], texts: ["why"], json: ["detail"], ofAgent: "agent_id = ?" },
  { name: "journal", key: ["turn_id", "step"], texts: [], json: ["data"], ofAgent: "turn_id IN (SELECT id FROM turns WHERE agent_id = ?)" },
  { name: "outbox", key: ["id"], texts: ["why"], json: ["payload", "receipt"], ofAgent: `session_key IS NULL OR ${byKey("session_key")}` },
  { name: "approvals", key: ["id"], texts: ["fate"], json: ["request"], ofAgent: "agent_id = ? OR agent_id IS NULL" },
  { name: "subagents", key: ["run_id"], texts: [], json: ["data"], ofAgent: `${byKey("child_session_key")}` },
  { name: "injections", key: ["seq"], texts: ["text"], json: ["payload"], ofAgent: byKey("session_key") },
  { name: "session_extensions", key: ["session_key", "plugin_id", "namespace"], texts: [], json: ["value"], ofAgent: byKey("session_key") },
  { name: "session_parts", key: ["session_key", "name"], texts: [], json: ["value"], ofAgent: byKey("session_key") },
  { name: "idempotency", key: ["scope", "key"], texts: [], json: ["result"], ofAgent: "? <> ''" },
  { name: "cron_slots", key: ["job_id", "scheduled_at"], texts: [], json: ["detail"], ofAgent: "? <> ''" },
];

/** The longest run of plain letters and digits that every text has, to let the database leave out most rows; empty when there is none. */
function commonRun(texts: readonly string[]): string {
  if (texts.length !== 1) return "";
  const runs = texts[0]?.match(/[a-z0-9]{3,}/gi) ?? [];
  return runs.reduce((longest, run) => (run.length > longest.length ? run : longest), "");
}

/** Rows that change, with their new values. */
function* changesIn(
  { sql }: ReadContext,
  table: Table,
  agentId: string,
  matches: TextMatcher,
  run: string,
): Generator<{ readonly table: Table; readonly key: unknown[]; readonly values: Readonly<Record<string, string>> }> {
  const columns = [...table.texts, ...table.json];
  const filter = run === "" ? "" : ` AND (${columns.map((column) => `${column} LIKE '%${run}%'`).join(" OR ")})`;
  const text = `SELECT ${[...table.key, ...columns].join(", ")} FROM ${table.name} WHERE (${table.ofAgent})${filter}`;
  for (const row of allRows<Record<string, string | number | null>>(sql(text), agentId)) {
    const values: Record<string, string> = {};
    for (const column of table.texts) if (typeof row[column] === "string" && matches(row[column])) values[column] = ERASED;
    for (const column of table.json) {
      const erased = typeof row[column] === "string" ? eraseInJson(row[column], matches) : undefined;
      if (erased !== undefined) values[column] = erased;
    }
    if (Object.keys(values).length > 0) yield { table, key: table.key.map((column) => row[column]), values };
  }
}

function* changes(context: ReadContext, { agentId, texts }: RedactionReads["records.matching"]["input"]): ReturnType<typeof changesIn> {
  const wanted = texts.filter((text) => text.trim() !== "");
  if (wanted.length === 0) return;
  const matches = createTextMatcher(wanted);
  const run = commonRun(wanted);
  for (const table of TABLES) yield* changesIn(context, table, agentId, matches, run);
}

export const redactionWrites = {
  "records.redact"(context, input) {
    let records = 0;
    for (const { table, key, values } of changes(context, input)) {
      const set = Object.keys(values)
        .map((column) => `${column} = ?`)
        .join(", ");
      const where = table.key.map((column) => `${column} = ?`).join(" AND ");
      context.sql(`UPDATE ${table.name} SET ${set} WHERE ${where}`).run(...Object.values(values), ...(key as (string | number)[]));
      records += 1;
    }
    return { records };
  },
} satisfies WriteHandlers<RedactionWrites>;

export const redactionReads = {
  "records.matching": (context, input) => [...changes(context, input)].length,
} satisfies ReadHandlers<RedactionReads>;
