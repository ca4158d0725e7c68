import { createTextMatcher, eraseInJson, ERASED, type TextMatcher } from "../../../base/erase-text.ts";
import type { RecordsCursor, RecordsInput, RedactionReads, RedactionWrites } from "../../areas/redaction.ts";
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
  { name: "inbox", key: ["id"], texts: ["text", "why"], json: ["payload"], ofAgent: "agent_id = ? OR agent_id IS NULL" },
  { name: "turns", key: ["id"], texts: ["why"], json: ["detail"], ofAgent: "agent_id = ?" },
  {
    name: "journal",
    key: ["turn_id", "step"],
    texts: [],
    json: ["data"],
    ofAgent: "EXISTS (SELECT 1 FROM turns WHERE turns.id = journal.turn_id AND turns.agent_id = ?)",
  },
  { name: "outbox", key: ["id"], texts: ["why"], json: ["payload", "receipt"], ofAgent: `session_key IS NULL OR ${byKey("session_key")}` },
  { name: "approvals", key: ["id"], texts: ["fate"], json: ["request"], ofAgent: "agent_id = ? OR agent_id IS NULL" },
  { name: "subagents", key: ["run_id"], texts: [], json: ["data"], ofAgent: byKey("child_session_key") },
  { name: "injections", key: ["seq"], texts: ["text"], json: ["payload"], ofAgent: byKey("session_key") },
  { name: "session_extensions", key: ["session_key", "plugin_id", "namespace"], texts: [], json: ["value"], ofAgent: byKey("session_key") },
  { name: "session_parts", key: ["session_key", "name"], texts: [], json: ["value"], ofAgent: byKey("session_key") },
  { name: "deleted_sessions", key: ["id"], texts: [], json: ["entry", "extensions"], ofAgent: "agent_id = ?" },
  { name: "idempotency", key: ["scope", "key"], texts: [], json: ["result"], ofAgent: "? <> ''" },
  { name: "cron_slots", key: ["job_id", "scheduled_at"], texts: [], json: ["detail"], ofAgent: "? <> ''" },
];

/** The longest run of plain letters and digits that every text has, to let the database leave out most rows; empty when there is none. */
function commonRun(texts: readonly string[]): string {
  if (texts.length !== 1) return "";
  const runs = texts[0]?.match(/[a-z0-9]{3,}/gi) ?? [];
  return runs.reduce((longest, run) => (run.length > longest.length ? run : longest), "");
}

interface Change {
  readonly table: Table;
  readonly key: readonly (string | number)[];
  readonly values: Readonly<Record<string, string>>;
}

type Row = Readonly<Record<string, string | number | null>>;

/** Rows of one call: a table is read in the order of its key, some rows at a time. */
const ROWS = 500;

const keyOf = (table: Table, row: Row): readonly (string | number)[] => table.key.map((column) => row[column] ?? "");

/** The key of the last row of a slice; undefined when the table ends before. */
function endOf({ sql }: ReadContext, table: Table, after: readonly (string | number)[] | undefined, rows: number): readonly (string | number)[] | undefined {
  const keys = table.key.join(", ");
  const behind = after ? `WHERE (${keys}) > (${table.key.map(() => "?").join(", ")})` : "";
  const [row] = allRows<Row>(sql(`SELECT ${keys} FROM ${table.name} ${behind} ORDER BY ${keys} LIMIT 1 OFFSET ?`), ...(after ?? []), rows - 1);
  return row && keyOf(table, row);
}

/** Rows of a slice that change, with their new values. */
function changesIn(context: ReadContext, table: Table, { agentId, matches, run, after, end }: Slice): readonly Change[] {
  const keys = table.key.join(", ");
  const marks = table.key.map(() => "?").join(", ");
  const columns = [...table.texts, ...table.json];
  const filters = [
    `(${table.ofAgent})`,
    ...(run === "" ? [] : [`(${columns.map((column) => `${column} LIKE '%${run}%'`).join(" OR ")})`]),
    ...(after ? [`(${keys}) > (${marks})`] : []),
    ...(end ? [`(${keys}) <= (${marks})`] : []),
  ];
  const text = `SELECT ${keys}, ${columns.join(", ")} FROM ${table.name} WHERE ${filters.join(" AND ")}`;
  return allRows<Row>(context.sql(text), agentId, ...(after ?? []), ...(end ?? [])).flatMap((row): Change[] => {
    const values: Record<string, string> = {};
    for (const column of table.texts) if (typeof row[column] === "string" && matches(row[column])) values[column] = ERASED;
    for (const column of table.json) {
      const erased = typeof row[column] === "string" ? eraseInJson(row[column], matches) : undefined;
      if (erased !== undefined) values[column] = erased;
    }
    return Object.keys(values).length > 0 ? [{ table, key: keyOf(table, row), values }] : [];
  });
}

interface Slice {
  readonly agentId: string;
  readonly matches: TextMatcher;
  readonly run: string;
  readonly after: readonly (string | number)[] | undefined;
  readonly end: readonly (string | number)[] | undefined;
}

/** What changes among the next rows, and where to go on. Small tables are done in one call. */
function changes(
  context: ReadContext,
  { agentId, texts, from, rows = ROWS }: RecordsInput,
): { readonly found: readonly Change[]; readonly next?: RecordsCursor } {
  const wanted = texts.filter((text) => text.trim() !== "");
  if (wanted.length === 0) return { found: [] };
  const [matches, run] = [createTextMatcher(wanted), commonRun(wanted)];
  const found: Change[] = [];
  let after = from?.after;
  for (let at = from?.table ?? 0; at < TABLES.length; at += 1) {
    const table = TABLES[at];
    if (!table) break;
    const end = endOf(context, table, after, rows);
    found.push(...changesIn(context, table, { agentId, matches, run, after, end }));
    if (end) return { found, next: { table: at, after: end } };
    after = undefined;
  }
  return { found };
}

export const redactionWrites = {
  "records.redact"(context, input) {
    const { found, next } = changes(context, input);
    for (const { table, key, values } of found) {
      const set = Object.keys(values)
        .map((column) => `${column} = ?`)
        .join(", ");
      const where = table.key.map((column) => `${column} = ?`).join(" AND ");
      context.sql(`UPDATE ${table.name} SET ${set} WHERE ${where}`).run(...Object.values(values), ...key);
    }
    return { records: found.length, ...(next ? { next } : {}) };
  },
} satisfies WriteHandlers<RedactionWrites>;

export const redactionReads = {
  "records.matching"(context, input) {
    const { found, next } = changes(context, input);
    return { records: found.length, ...(next ? { next } : {}) };
  },
} satisfies ReadHandlers<RedactionReads>;
