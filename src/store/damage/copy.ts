import type { DatabaseSync } from "node:sqlite";
import { PACKS_VERSION, requireReader } from "../sqlite/migrations.ts";
import { PACKED_LINE, unpackLines } from "../projection/packs.ts";
import type { SalvagedTable } from "./types.ts";
import type { Row, Table } from "./reader.ts";
import { walkTable } from "./walk.ts";

/** Columns that hold only JSON: the file has no checksums, so text that does not parse is damaged. */
const JSON_COLUMNS = new Set(["entry", "line", "job", "data"]);
const ROWS_PER_TRANSACTION = 1000;

/** Rebuilt by triggers when sessions and lines of transcripts are copied. */
const REBUILT = /^(?:session_(?:words|search|unsearched|list|counts|marks)|transcript_forks)/;

/** The tables of a schema, with the columns that order their rows in the file. */
export function tablesOf(db: DatabaseSync): Table[] {
  const named = db.prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name").all();
  const kept = named.filter(({ name }) => !REBUILT.test(String(name)));
  return kept.map(({ name, sql }) => {
    const columns = db.prepare("SELECT name, pk, type FROM pragma_table_info(?) ORDER BY cid").all(String(name));
    const keyed = columns.filter((column) => Number(column["pk"]) > 0).sort((a, b) => Number(a["pk"]) - Number(b["pk"]));
    const table = { name: String(name), columns: columns.map((column) => String(column["name"])) };
    if (!/WITHOUT\s+ROWID\s*$/i.test(String(sql).trim())) return { ...table, key: ["rowid"], numeric: [true] };
    return { ...table, key: keyed.map((column) => String(column["name"])), numeric: keyed.map((column) => column["type"] === "INTEGER") };
  });
}

/** The wanted columns that the damaged table has; all of them when even that cannot be read. */
function presentColumns(damaged: DatabaseSync, table: Table): Table {
  try {
    const names = new Set(
      damaged
        .prepare("SELECT name FROM pragma_table_info(?)")
        .all(table.name)
        .map((row) => String(row["name"])),
    );
    if (names.size === 0) return table;
    // A table of an older schema may be ordered differently.
    const { key, numeric } = tablesOf(damaged).find(({ name }) => name === table.name) ?? table;
    return { ...table, key, numeric, columns: table.columns.filter((column) => names.has(column)) };
  } catch {
    return table;
  }
}

/** Compressed lines have a checksum. */
function isSoundPack({ first, last, data }: Row): boolean {
  try {
    return data instanceof Uint8Array && unpackLines(data).length === Number(last) - Number(first) + 1;
  } catch {
    return false;
  }
}

function isSound(table: string, row: Row): boolean {
  if (table === "transcript_packs") return isSoundPack(row);
  for (const [column, value] of Object.entries(row)) {
    if (!JSON_COLUMNS.has(column) || typeof value !== "string") continue;
    if (table === "transcript_entries" && value === PACKED_LINE) continue;
    try {
      JSON.parse(value);
    } catch {
      return false;
    }
  }
  return true;
}

/** Copies what can be read of one table. */
export function copyTable(damaged: DatabaseSync, fresh: DatabaseSync, wanted: Table): SalvagedTable {
  const table = presentColumns(damaged, wanted);
  const columns = table.columns.map((name) => `"${name}"`).join(", ");
  // Rows that `prepare` wrote into the new file stay: they describe the new file.
  const insert = fresh.prepare(`INSERT OR IGNORE INTO "${table.name}" (${columns}) VALUES (${table.columns.map(() => "?").join(", ")})`);
  let copied = 0;
  let refused = 0;
  fresh.exec("BEGIN");
  const unreadable = walkTable(damaged, table, (row) => {
    if (!isSound(table.name, row)) {
      refused += 1;
      return;
    }
    // A row that the schema rejects was damaged although its page looked fine.
    const { changes } = insert.run(...table.columns.map((column) => row[column] ?? null));
    if (Number(changes) === 1) copied += 1;
    else if (table.name !== "meta") refused += 1;
    if (copied % ROWS_PER_TRANSACTION === 0) fresh.exec("COMMIT; BEGIN");
  });
  fresh.exec("COMMIT");
  if (table.name === "transcript_packs" && copied > 0) requireReader(fresh, PACKS_VERSION);
  return { table: table.name, copied, unreadable, refused };
}
