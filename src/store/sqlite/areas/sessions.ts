import { AppError } from "../../../base/errors.ts";
import { AUTOMATION } from "../../../base/session-name.ts";
import type { SessionEntry } from "../../../protocol/index.ts";
import { patchedEntry, type SessionFilter, type SessionRow, type SessionsReads, type SessionsWrites } from "../../areas/sessions.ts";
import { likePrefix, shape, shapeAll, where, type ReadHandlers, type WriteContext, type WriteHandlers } from "../handlers.ts";
import { searchSessions } from "./search-sessions.ts";
import { PARTS, savePart, withoutParts, withParts } from "./session-parts.ts";
import { namesOfSessions, searchable, showSessions } from "./session-previews.ts";
import { allRows, numberOf } from "../../rows.ts";

const COLUMNS = "key, agent_id AS agentId, version, entry";
const JSON_COLUMNS = ["entry"] as const;
const ORDERS = { newest: "updated_at DESC, key", oldest: "updated_at, key", key: "key" } as const;

function textOrNull(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

/** Without the fields that are stored beside the entry; an entry that was never split still contains them. */
function leanOf({ sql }: Pick<WriteContext, "sql">, key: string): SessionRow | undefined {
  return shape<SessionRow>(sql(`SELECT ${COLUMNS} FROM sessions WHERE key = ?`).get(key), JSON_COLUMNS);
}

function currentOf(context: Pick<WriteContext, "sql">, key: string): SessionRow | undefined {
  const row = leanOf(context, key);
  return row && { ...row, entry: withParts(context.sql, key, row.entry) };
}

/** Throws when the caller expects another version than the current one; 0 stands for none. */
function assertVersion(key: string, expected: number | undefined, actual: number): void {
  if (expected === undefined || expected === actual) return;
  throw new AppError("CONFLICT", `session ${key} is at version ${actual}, the change was made for version ${expected}; read it again`, {
    details: { key, expected, actual },
  });
}

/** Fields of an entry with columns of their own, besides its times; some have an index. */
const columnsOf = (entry: SessionEntry): readonly (string | null)[] => [
  entry.sessionId,
  textOrNull(entry.channel ?? entry.lastChannel),
  textOrNull(entry.chatType),
  textOrNull(entry.label),
  textOrNull(entry.spawnedBy),
];

function assertWhole(key: string, { sessionId, updatedAt }: SessionEntry): void {
  if (typeof sessionId === "string" && typeof updatedAt === "number") return;
  throw new AppError("INVALID_INPUT", `the entry of session ${key} needs a text "sessionId" and a number "updatedAt"`);
}

function save({ sql }: WriteContext, { key, agentId, entry, version }: SessionRow): void {
  assertWhole(key, entry);
  sql(`INSERT INTO sessions (key, agent_id, updated_at, version, entry, session_id, channel, chat_type, label, spawned_by) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (key) DO UPDATE SET agent_id = excluded.agent_id, session_id = excluded.session_id, updated_at = excluded.updated_at, channel = excluded.channel,
    chat_type = excluded.chat_type, label = excluded.label, spawned_by = excluded.spawned_by, version = excluded.version, entry = excluded.entry`).run(
    key,
    agentId,
    Math.trunc(entry.updatedAt),
    version,
    JSON.stringify(withoutParts(entry)),
    ...columnsOf(entry),
  );
}

/** Writing a column also writes its index, changed or not, and a turn changes only the entry. */
function saveOver(context: WriteContext, before: SessionRow, row: SessionRow): void {
  const was = columnsOf(before.entry);
  if (columnsOf(row.entry).some((value, at) => value !== was[at])) return save(context, row);
  assertWhole(row.key, row.entry);
  const text = "UPDATE sessions SET updated_at = ?, version = ?, entry = ? WHERE key = ?";
  context.sql(text).run(Math.trunc(row.entry.updatedAt), row.version, JSON.stringify(withoutParts(row.entry)), row.key);
}

function patch(context: WriteContext, { key, patch: fields, version }: SessionsWrites["sessions.patch"]["input"]): SessionRow {
  const row = leanOf(context, key);
  if (!row) throw new AppError("NOT_FOUND", `there is no session ${key}`);
  assertVersion(key, version, row.version);
  const changed = { ...row, version: row.version + 1, entry: patchedEntry(row.entry, fields) };
  saveOver(context, row, changed);
  for (const name of PARTS) if (name in fields || name in row.entry) savePart(context.sql, key, name, changed.entry[name]);
  return changed;
}

function versionOf({ sql }: WriteContext, key: string): number {
  return Number(sql("SELECT version FROM sessions WHERE key = ?").get(key)?.["version"] ?? 0);
}

/** Other tables that refer to a session by its key, with the rows that move with it. */
const FOLLOWERS = [
  ["sessions", "spawned_by", "1"],
  ["session_parts", "session_key", "1"],
  ["session_extensions", "session_key", "1"],
  ["injections", "session_key", "1"],
  ["inbox", "session_key", "state <> 'settled'"],
  ["outbox", "session_key", "settled_at IS NULL"],
  ["turns", "session_key", "1"],
  ["usage", "session_key", "1"],
  ["subagents", "child_session_key", "1"],
  ["subagents", "requester_session_key", "1"],
] as const;

export const sessionsWrites = {
  "sessions.put"(context, { key, agentId, entry, version }) {
    const actual = versionOf(context, key);
    assertVersion(key, version, actual);
    save(context, { key, agentId, entry, version: actual + 1 });
    for (const name of PARTS) savePart(context.sql, key, name, entry[name]);
    return { version: actual + 1 };
  },
  "sessions.patch"(context, input) {
    const row = patch(context, input);
    return { ...row, entry: withParts(context.sql, row.key, row.entry) };
  },
  "sessions.merge": (context, input) => ({ version: patch(context, input).version }),
  "sessions.expect"(context, { key, version }) {
    assertVersion(key, version, versionOf(context, key));
  },
  "sessions.delete"(context, { key, version }) {
    assertVersion(key, version, versionOf(context, key));
    context.sql("DELETE FROM session_parts WHERE session_key = ?").run(key);
    return { deleted: context.sql("DELETE FROM sessions WHERE key = ?").run(key).changes === 1 };
  },
  "sessions.rename"(context, { from, to, version }) {
    const row = currentOf(context, from);
    if (!row) throw new AppError("NOT_FOUND", `there is no session ${from}`);
    assertVersion(from, version, row.version);
    if (currentOf(context, to)) throw new AppError("CONFLICT", `session ${to} already exists; choose another key`, { details: { from, to } });
    context.sql("UPDATE sessions SET key = ?, version = version + 1 WHERE key = ?").run(to, from);
    context.sql("UPDATE sessions SET entry = json_set(entry, '$.spawnedBy', ?) WHERE spawned_by = ?").run(to, from);
    for (const [table, column, condition] of FOLLOWERS) context.sql(`UPDATE ${table} SET ${column} = ? WHERE ${column} = ? AND ${condition}`).run(to, from);
    return { version: row.version + 1 };
  },
} satisfies WriteHandlers<SessionsWrites>;

/** The key after `agent:<id>:`. */
const REST = "substr(key, CASE WHEN key GLOB 'agent:*' THEN 7 + instr(substr(key, 7), ':') ELSE 1 END)";
const IS_AUTOMATION = `(substr(${REST}, 1, instr(${REST} || ':', ':') - 1) IN (${AUTOMATION.map((kind) => `'${kind}'`).join(", ")}))`;

const marked = (column: "archived_at" | "pinned_at"): string => `(key IN (SELECT session_key FROM session_marks WHERE ${column} IS NOT NULL))`;

function conditions(filter: SessionFilter & { readonly keyPart?: string | undefined }): ReturnType<typeof where> {
  const search = filter.search === undefined || filter.search === "" ? undefined : filter.search.toLowerCase();
  return where([
    ["agent_id = ?", filter.agentId],
    ["channel = ?", filter.channel],
    ["chat_type = ?", filter.chatType],
    ["updated_at >= ?", filter.activeSince],
    ["label = ?", filter.label],
    ["spawned_by = ?", filter.spawnedBy],
    ["instr(key, ?) > 0", filter.keyPart],
    [`${IS_AUTOMATION} = ?`, filter.automation === undefined ? undefined : Number(filter.automation)],
    [`${marked("archived_at")} = ?`, filter.archived === undefined ? undefined : Number(filter.archived)],
    [`${marked("pinned_at")} = ?`, filter.pinned === undefined ? undefined : Number(filter.pinned)],
    ["(key IN (SELECT session_key FROM session_folders)) = ?", filter.filed === undefined ? undefined : Number(filter.filed)],
    ["key IN (SELECT session_key FROM session_folders WHERE folder = ?)", filter.folder],
    ["key <> ?", filter.except?.[0]],
    ["key <> ?", filter.except?.[1]],
    ["key LIKE ? ESCAPE '\\'", filter.keyPrefix === undefined ? undefined : likePrefix(filter.keyPrefix)],
    [
      `instr(lower(key || char(10) || session_id || char(10) || coalesce(label, '') || char(10) || coalesce(entry ->> '$.displayName', '')
        || char(10) || coalesce(entry ->> '$.subject', '')), ?) > 0`,
      search,
    ],
  ]);
}

/** Agents whose lists are merged; with more, all matches are sorted. */
const MOST_MERGED = 32;
/** Fields that a turn needs and no list shows, where they make up most of an entry. */
const LISTED = `key, agent_id AS agentId, version,
  CASE WHEN length(entry) > 2000 THEN json_remove(entry, '$.systemPromptReport', '$.skillsSnapshot') ELSE entry END AS entry`;

type Values = readonly (string | number)[];
interface Query {
  readonly text: string;
  readonly values: Values;
}

/** A state of a version without the list, or whose list is still being filled. */
const UNLISTED = `SELECT 1 WHERE EXISTS (SELECT 1 FROM meta WHERE key = 'sessions.listed')
  OR NOT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'session_list')`;

const isListed = ({ sql }: Pick<WriteContext, "sql">): boolean => sql(UNLISTED).get() === undefined;

/** Conditions on columns of the session list; undefined when there are others. */
function listConditions(filter: SessionFilter): Query | undefined {
  const { agentId: _agent, after, order = "newest", limit, offset: _offset, ...asked } = filter;
  const { activeSince, except, automation, archived, pinned, filed, folder, ...others } = asked;
  if (order === "key" || limit === undefined || Object.values(others).some((value) => value !== undefined)) return undefined;
  const { text, values } = conditions({ activeSince, except, automation, archived, pinned, filed, folder });
  if (after === undefined) return { text, values };
  return { text: `${text} AND updated_at <= ? AND (updated_at < ? OR key > ?)`, values: [...values, after.updatedAt, after.updatedAt, after.key] };
}

/** The keys of a page, from the session list alone: as many steps as the page and its offset are long. Undefined when the list cannot answer. */
function listedKeys(context: Pick<WriteContext, "sql">, filter: SessionFilter): readonly string[] | undefined {
  const where = isListed(context) ? listConditions(filter) : undefined;
  if (!where) return undefined;
  const { agentId, order = "newest", limit = 0, offset = 0 } = filter;
  const agents =
    agentId === undefined ? context.sql(`SELECT agent_id AS id FROM session_counts WHERE n > 0 LIMIT ${MOST_MERGED + 1}`).all() : [{ id: agentId }];
  if (agents.length > MOST_MERGED) return undefined;
  if (agents.length === 0) return [];
  const part = `SELECT * FROM (SELECT key, updated_at FROM session_list WHERE agent_id = ? AND ${where.text} ORDER BY ${ORDERS[order]} LIMIT ?)`;
  const text = `SELECT key FROM (${agents.map(() => part).join(" UNION ALL ")}) ORDER BY ${ORDERS[order]} LIMIT ? OFFSET ?`;
  const values = agents.flatMap(({ id }) => [String(id), ...where.values, limit + offset]);
  const rows = context.sql(text).all(...values, limit, offset);
  return rows.map(({ key }) => String(key));
}

function matching(context: Pick<WriteContext, "sql">, filter: SessionFilter): readonly SessionRow[] {
  const keys = listedKeys(context, filter);
  if (keys) return keys.flatMap((key) => shapeAll<SessionRow>(context.sql(`SELECT ${LISTED} FROM sessions WHERE key = ?`).all(key), JSON_COLUMNS));
  const { after } = filter;
  const { text, values } = conditions(filter);
  const where = after === undefined ? text : `${text} AND updated_at <= ? AND (updated_at < ? OR key > ?)`;
  const bound: Values = after === undefined ? values : [...values, after.updatedAt, after.updatedAt, after.key];
  const query = `SELECT ${LISTED} FROM sessions WHERE ${where} ORDER BY ${ORDERS[filter.order ?? "newest"]} LIMIT ? OFFSET ?`;
  return shapeAll<SessionRow>(context.sql(query).all(...bound, filter.limit ?? -1, filter.offset ?? 0), JSON_COLUMNS);
}

/** How many match. All sessions, and all of an agent, are counted as they come and go. */
function count(context: Pick<WriteContext, "sql">, filter: SessionFilter): number {
  const { sql } = context;
  const { except = [], agentId, limit: _limit, offset: _offset, order: _order, after: _after, ...others } = filter;
  const { text, values } = conditions({ ...others, agentId });
  const isCounted = isListed(context) && Object.values(others).every((value) => value === undefined);
  const query = isCounted ? `SELECT coalesce(sum(n), 0) AS n FROM session_counts WHERE ${text}` : `SELECT count(*) AS n FROM sessions WHERE ${text}`;
  const whole = numberOf(sql(query), ...values);
  const left = [...new Set(except.slice(0, 2))].filter((key) => sql(`SELECT 1 FROM sessions WHERE key = ? AND ${text}`).get(key, ...values));
  return whole - left.length;
}

function list(context: Pick<WriteContext, "sql">, filter: SessionFilter): SessionsReads["sessions.list"]["result"] {
  return { rows: matching(context, filter), total: count(context, filter) };
}

const FOLDERS = `SELECT folder AS name, count(*) AS sessions FROM session_folders
  WHERE session_key NOT IN (SELECT session_key FROM session_marks WHERE archived_at IS NOT NULL) GROUP BY folder ORDER BY folder COLLATE NOCASE, folder`;

export const sessionsReads = {
  "sessions.get": (context, { key }) => currentOf(context, key),
  "sessions.bySessionId": ({ sql }, { sessionId }) =>
    shapeAll<SessionRow>(sql(`SELECT ${COLUMNS} FROM sessions WHERE session_id = ? ORDER BY updated_at DESC, key`).all(sessionId), JSON_COLUMNS),
  "sessions.byLabel"({ sql }, { label, agentId }) {
    const { text, values } = where([["agent_id = ?", agentId]]);
    return shapeAll<SessionRow>(
      sql(`SELECT ${COLUMNS} FROM sessions WHERE label = ? AND ${text} ORDER BY updated_at DESC, key`).all(label, ...values),
      JSON_COLUMNS,
    );
  },
  "sessions.list": list,
  "sessions.shown"(context, { last = false, search = "", ...filter }) {
    const words = searchable(search).split(/\s+/).filter(Boolean);
    if (words.length === 0) {
      const { rows, total } = list(context, filter);
      return { rows: showSessions(context, rows, last), total };
    }
    const { text, values } = conditions({ ...filter, keyPart: words.find((word) => word.startsWith("agent:")) });
    const { order = "newest", offset = 0, limit } = filter;
    const { keys, total } = searchSessions(context, { where: text, values, order, offset, limit }, words, last);
    const rows = keys.map((key) => currentOf(context, key)).filter((row) => row !== undefined);
    return { rows: showSessions(context, rows, last), total };
  },
  "sessions.folders": ({ sql }) => allRows(sql(FOLDERS)),
  "sessions.names": (context, { keys }) => namesOfSessions(context, keys, (key) => currentOf(context, key)),
} satisfies ReadHandlers<SessionsReads>;
