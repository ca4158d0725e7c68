import { AppError } from "../../../base/errors.ts";
import type { AllowedCommand, ApprovalRow, ApprovalsReads, ApprovalsWrites, CommandOutcome, CommandsReads, CommandsWrites } from "../../areas/approvals.ts";
import { shape, shapeAll, where, type ReadHandlers, type Row, type WriteHandlers } from "../handlers.ts";

const COLUMNS = `id, kind, session_key AS sessionKey, agent_id AS agentId, turn_id AS turnId, request, state, decision, decided_by AS decidedBy,
  created_at AS createdAt, expires_at AS expiresAt, decided_at AS decidedAt, fate AS outcome`;
const JSON_COLUMNS = ["request", "outcome"] as const;

/** The JSON of an outcome in the column `fate` calls `reported` by its former name. */
/** The session of a command does not know yet how it ended. */
export const UNREPORTED = "coalesce(json_extract(fate, '$.told'), 0) = 0";

const toStored = ({ reported, ...outcome }: CommandOutcome): string => JSON.stringify({ ...outcome, told: reported });

type StoredRow = Omit<ApprovalRow, "outcome"> & { readonly outcome: (CommandOutcome & { readonly told?: boolean }) | null };

function fromStored(row: StoredRow): ApprovalRow {
  if (row.outcome === null) return row;
  const { told, ...outcome } = row.outcome;
  return { ...row, outcome: told === undefined ? outcome : { ...outcome, reported: told } };
}

function readRow(row: Row | undefined): ApprovalRow | undefined {
  const shaped = shape<StoredRow>(row, JSON_COLUMNS);
  return shaped && fromStored(shaped);
}

const readRows = (rows: readonly Row[]): readonly ApprovalRow[] => shapeAll<StoredRow>(rows, JSON_COLUMNS).map(fromStored);

export const approvalsWrites = {
  "approvals.request"({ sql, now }, { id, kind, request, expiresAt, sessionKey, agentId, turnId }) {
    const text = `INSERT INTO approvals (id, kind, session_key, agent_id, turn_id, request, state, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?, 'pending', ?, ?)
      ON CONFLICT (id) DO NOTHING`;
    const done = sql(text).run(id, kind, sessionKey ?? null, agentId ?? null, turnId ?? null, JSON.stringify(request ?? null), now, expiresAt);
    if (done.changes === 0) throw new AppError("CONFLICT", `approval ${id} was already requested`, { details: { id } });
  },
  "approvals.decide"({ sql, now }, { id, decision, by }) {
    const text = `UPDATE approvals SET state = 'decided', decision = ?, decided_by = ?, decided_at = ? WHERE id = ? AND state = 'pending' AND expires_at > ? RETURNING ${COLUMNS}`;
    const row = readRow(sql(text).get(decision, by ?? null, now, id, now));
    if (row) return row;
    const there = sql("SELECT state, decision FROM approvals WHERE id = ?").get(id);
    if (!there) throw new AppError("NOT_FOUND", `there is no approval ${id}`);
    const state = there["state"] === "pending" ? "expired" : String(there["state"]);
    throw new AppError("CONFLICT", `approval ${id} is ${state}; it can no longer be decided`, { details: { id, state, decision: there["decision"] } });
  },
  "approvals.expire"({ sql, now }) {
    const rows = sql("UPDATE approvals SET state = 'expired', decided_at = ? WHERE state = 'pending' AND expires_at <= ? RETURNING id").all(now, now);
    return rows.map((row) => String(row["id"]));
  },
  "approvals.outcome"({ sql }, { id, outcome }) {
    if (sql("UPDATE approvals SET fate = ? WHERE id = ?").run(toStored(outcome), id).changes === 0)
      throw new AppError("NOT_FOUND", `there is no approval ${id}`);
  },
  "approvals.cancel"({ sql, now }, { turnId }) {
    const rows = sql("UPDATE approvals SET state = 'cancelled', decided_at = ? WHERE state = 'pending' AND turn_id = ? RETURNING id").all(now, turnId);
    return rows.map((row) => String(row["id"]));
  },
} satisfies WriteHandlers<ApprovalsWrites>;

export const approvalsReads = {
  "approvals.get": ({ sql }, { id }) => readRow(sql(`SELECT ${COLUMNS} FROM approvals WHERE id = ?`).get(id)),
  "approvals.pending"({ sql }, { kind, turnId }) {
    const { text, values } = where([
      ["kind = ?", kind],
      ["turn_id = ?", turnId],
    ]);
    return readRows(sql(`SELECT ${COLUMNS} FROM approvals WHERE state = 'pending' AND ${text} ORDER BY created_at, id`).all(...values));
  },
  "approvals.some": ({ sql }, { ids }) =>
    readRows(sql(`SELECT ${COLUMNS} FROM approvals WHERE id IN (SELECT value FROM json_each(?))`).all(JSON.stringify(ids))),
  "approvals.history"({ sql }, { limit, before }) {
    const { text, values } = where([["decided_at < ?", before]]);
    const over = `FROM approvals WHERE decided_at IS NOT NULL AND state <> 'pending' AND ${text}`;
    // What ended at the same moment stays together: the next page begins before it.
    const oldest = `(SELECT min(decided_at) FROM (SELECT decided_at ${over} ORDER BY decided_at DESC LIMIT ?))`;
    return readRows(sql(`SELECT ${COLUMNS} ${over} AND decided_at >= ${oldest} ORDER BY decided_at DESC, id`).all(...values, ...values, limit));
  },
  "approvals.unreported"({ sql }, { kind, since, before, sessionKey }) {
    const { text, values } = where([
      ["kind = ?", kind],
      ["created_at >= ?", since],
      ["created_at < ?", before],
      ["session_key = ?", sessionKey],
    ]);
    return readRows(sql(`SELECT ${COLUMNS} FROM approvals WHERE ${text} AND ${UNREPORTED} ORDER BY created_at, id`).all(...values));
  },
} satisfies ReadHandlers<ApprovalsReads>;

const COMMAND_COLUMNS = "id, agent_id AS agentId, program, rule, command, created_at AS createdAt, last_used_at AS lastUsedAt";

export const commandsWrites = {
  "commands.allow"({ sql, now }, { id, agentId, program, rule, command }) {
    const text = `INSERT INTO remembered_commands (id, agent_id, program, rule, command, created_at) VALUES (?, ?, ?, ?, ?, ?)
      ON CONFLICT (agent_id, program, rule) DO NOTHING`;
    sql(text).run(id, agentId, program, JSON.stringify(rule), command, now);
  },
  "commands.used"({ sql, now }, { ids }) {
    sql("UPDATE remembered_commands SET last_used_at = ? WHERE id IN (SELECT value FROM json_each(?))").run(now, JSON.stringify(ids));
  },
  "commands.remove": ({ sql }, { id }) => sql("DELETE FROM remembered_commands WHERE id = ?").run(id).changes > 0,
} satisfies WriteHandlers<CommandsWrites>;

export const commandsReads = {
  "commands.list"({ sql }, { agentId }) {
    const { text, values } = where([["agent_id = ?", agentId]]);
    return shapeAll<AllowedCommand>(sql(`SELECT ${COMMAND_COLUMNS} FROM remembered_commands WHERE ${text} ORDER BY created_at, id`).all(...values), ["rule"]);
  },
} satisfies ReadHandlers<CommandsReads>;
