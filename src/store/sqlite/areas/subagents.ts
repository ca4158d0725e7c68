import { AppError } from "../../../base/errors.ts";
import { firstRow, need, numberOf } from "../../rows.ts";
import type { BudgetScope, BudgetShare, SpawnBudget, SpawnLimits, SubagentRow, SubagentsReads, SubagentsWrites } from "../../areas/subagents.ts";
import { shape, shapeAll, where, type ReadContext, type ReadHandlers, type WriteContext, type WriteHandlers } from "../handlers.ts";
import { UNREPORTED } from "./approvals.ts";

const COLUMNS = `run_id AS runId, child_session_key AS childSessionKey, requester_session_key AS requesterSessionKey, state, outcome, announced,
  created_at AS createdAt, started_at AS startedAt, ended_at AS endedAt, archive_at AS archiveAt, data`;

function runOf({ sql }: ReadContext, runId: string): SubagentRow | undefined {
  return shape<SubagentRow>(sql(`SELECT ${COLUMNS} FROM subagents WHERE run_id = ?`).get(runId), ["data"], ["announced"]);
}

const ADD = `INSERT INTO subagents (run_id, child_session_key, requester_session_key, state, announced, created_at, archive_at, data)
  VALUES (?, ?, ?, 'queued', 0, ?, ?, ?) ON CONFLICT (run_id) DO NOTHING`;

interface NewRun {
  readonly runId: string;
  readonly childSessionKey: string;
  readonly requesterSessionKey: string;
  readonly data: unknown;
  readonly archiveAt?: number | undefined;
}

function add({ sql, now }: WriteContext, { runId, childSessionKey, requesterSessionKey, data, archiveAt }: NewRun): void {
  const done = sql(ADD).run(runId, childSessionKey, requesterSessionKey, now, archiveAt ?? null, JSON.stringify(data ?? null));
  if (done.changes === 0) throw new AppError("CONFLICT", `subagent run ${runId} already exists`, { details: { runId } });
}

interface Amounts {
  readonly usd: number;
  readonly tokens: number;
}

/** What counts for a budget; with a session, only what that one used. */
function usedOf({ sql }: ReadContext, { since, before, agentId, sender, provider }: BudgetScope, sessionKey?: string): Amounts {
  const { text, values } = where([
    ["session_key = ?", sessionKey],
    ["day >= ?", sessionKey === undefined ? new Date(since).toISOString().slice(0, 10) : undefined],
    ["at >= ?", since],
    ["at < ?", before],
    ["agent_id = ?", agentId],
    ["sender = ?", sender],
    ["provider = ?", provider],
  ]);
  const sums = "coalesce(sum(cost), 0.0) AS usd, coalesce(sum(input + output + cache_read + cache_write), 0) AS tokens";
  return need(firstRow<Amounts>(sql(`SELECT ${sums} FROM usage WHERE ${text}`), ...values));
}

const isOf = (share: BudgetScope, of: BudgetScope): boolean =>
  share.since === of.since && share.before === of.before && share.agentId === of.agentId && share.sender === of.sender && share.provider === of.provider;

/** A child with its shares of budgets. */
interface Sharer {
  readonly runId: string;
  readonly childSessionKey: string;
  readonly shares: readonly BudgetShare[];
}

/** Children that have shares and have not ended. Their tasks, which may be long, are not read. */
const sharers = ({ sql }: ReadContext, and: "" | "AND run_id = ?" | "AND child_session_key = ?" = "", ...values: readonly string[]): readonly Sharer[] => {
  const text = `SELECT run_id AS runId, child_session_key AS childSessionKey, json_extract(data, '$.shares') AS shares FROM subagents
    WHERE state <> 'ended' AND json_extract(data, '$.shares') IS NOT NULL ${and}`;
  return shapeAll<Sharer>(sql(text).all(...values), ["shares"]);
};

/** What a child has not used of its share. Undefined: it has none of this budget. */
function unusedOf(context: ReadContext, row: Sharer, budget: BudgetScope): Amounts | undefined {
  const share = row.shares.find((one) => isOf(one, budget));
  if (!share) return undefined;
  const used = usedOf(context, budget, row.childSessionKey);
  return { usd: Math.max(0, (share.usd ?? 0) - used.usd), tokens: Math.max(0, (share.tokens ?? 0) - used.tokens) };
}

function reservedOf(context: ReadContext, budget: BudgetScope, exceptFor?: string): Amounts {
  return sharers(context)
    .filter(({ childSessionKey }) => childSessionKey !== exceptFor)
    .map((row) => unusedOf(context, row, budget) ?? { usd: 0, tokens: 0 })
    .reduce((sum, { usd, tokens }) => ({ usd: sum.usd + usd, tokens: sum.tokens + tokens }), { usd: 0, tokens: 0 });
}

const setShares = ({ sql }: WriteContext, runId: string, shares: readonly BudgetShare[]): unknown =>
  sql("UPDATE subagents SET data = json_set(data, '$.shares', json(?)) WHERE run_id = ?").run(JSON.stringify(shares), runId);

/** Makes one share of an unfinished child larger, or smaller. */
function changeShare(context: WriteContext, row: Sharer, budget: BudgetScope, by: Amounts, sign: 1 | -1): void {
  const changed = ({ usd, tokens, ...share }: BudgetShare): BudgetShare => ({
    ...share,
    ...(usd === undefined ? {} : { usd: Math.max(0, usd + sign * by.usd) }),
    ...(tokens === undefined ? {} : { tokens: Math.max(0, tokens + sign * by.tokens) }),
  });
  setShares(
    context,
    row.runId,
    row.shares.map((share) => (isOf(share, budget) ? changed(share) : share)),
  );
}

const UNITS = ["usd", "tokens"] as const;
/** A smaller share pays for nothing. */
const LEAST: Amounts = { usd: 1e-6, tokens: 1 };

/** Reserves a child's part of each budget: of `parts` that are as large as it. */
function reserve(context: WriteContext, requester: string, budgets: readonly SpawnBudget[], parts: number): readonly BudgetShare[] {
  return budgets.map(({ name, limit, ...budget }) => {
    const [parent] = sharers(context, "AND child_session_key = ?", requester);
    // A child that has used up its share gets its children's from what is free for all.
    const unused = parent && unusedOf(context, parent, budget);
    const own = unused && UNITS.every((unit) => limit[unit] === undefined || unused[unit] >= parts * LEAST[unit]) ? unused : undefined;
    const [used, reserved] = own ? [] : [usedOf(context, budget), reservedOf(context, budget)];
    const part = (unit: keyof Amounts): number | undefined => {
      const most = limit[unit];
      if (most === undefined) return undefined;
      const free = own?.[unit] ?? most - (used?.[unit] ?? 0) - (reserved?.[unit] ?? 0);
      const share = unit === "tokens" ? Math.floor(free / parts) : free / parts;
      if (share >= LEAST[unit]) return share;
      const text = `the budget ${name} has nothing left for another sub-agent: the unused part is reserved for running ones; wait until some have finished`;
      throw new AppError("OVERLOADED", text, { details: { limit: "budget", active: most - free, max: most } });
    };
    const [usd, tokens] = [part("usd"), part("tokens")];
    if (parent && own) changeShare(context, parent, budget, { usd: usd ?? 0, tokens: tokens ?? 0 }, -1);
    return { ...budget, ...(usd === undefined ? {} : { usd }), ...(tokens === undefined ? {} : { tokens }) };
  });
}

/** What an ending child did not use goes back to the child that started it; without one it is free for all, since only unfinished children have shares. */
function giveBack(context: WriteContext, runId: string): void {
  const [row] = sharers(context, "AND run_id = ?", runId);
  if (!row) return;
  const requester = runOf(context, runId)?.requesterSessionKey ?? "";
  for (const share of row.shares) {
    const [parent] = sharers(context, "AND child_session_key = ?", requester);
    const left = unusedOf(context, row, share);
    if (parent && left) changeShare(context, parent, share, left, 1);
  }
}

/** A session goes on after a command that is not older than this. */
const GOES_ON_MS = 24 * 60 * 60_000;
const WAITING = `SELECT 1 FROM subagents JOIN approvals ON session_key = child_session_key WHERE run_id = ? AND subagents.state <> 'ended' AND kind = 'exec'
  AND approvals.created_at >= ? AND json_extract(request, '$.plan') IS NOT NULL AND ${UNREPORTED}`;

const reached = (limit: string, message: string, active: number, max: number): AppError =>
  new AppError("OVERLOADED", message, { details: { limit, active, max } });

/** Refuses a child that would be outside of a limit. Gives how many more the session may have. */
function checkLimits({ sql, now }: WriteContext, requester: string, { children, total, failures, pauseMs }: SpawnLimits): { readonly free: number } {
  const killed = sql("SELECT 1 FROM subagents WHERE child_session_key = ? AND outcome = 'killed'").get(requester);
  if (killed) throw reached("killed", "the session that starts it was stopped", 0, 0);
  const own = numberOf(sql("SELECT count(*) AS own FROM subagents WHERE requester_session_key = ? AND state <> 'ended'"), requester);
  if (own >= children) throw reached("children", `${own} children of the session are running (at most ${children})`, own, children);
  const all = numberOf(sql("SELECT count(*) AS everyone FROM subagents WHERE state <> 'ended'"));
  if (all >= total) throw reached("total", `${all} sub-agents are running (at most ${total})`, all, total);
  const last = sql("SELECT outcome, ended_at AS at FROM subagents WHERE requester_session_key = ? AND state = 'ended' ORDER BY ended_at DESC LIMIT ?").all(
    requester,
    failures,
  );
  const failed = last.filter(({ outcome }) => outcome === "error" || outcome === "timeout").length;
  if (failed >= failures && Number(last[0]?.["at"] ?? 0) > now - pauseMs)
    throw reached("failures", `the last ${failed} children of the session failed`, failed, failures);
  return { free: children - own };
}

/** Refuses a child where children have started each other for too long. */
function checkChain({ sql }: WriteContext, chain: SpawnLimits["chain"]): void {
  if (!chain || chain.generation === 0) return;
  const { root, generation, maxGenerations, maxChildren } = chain;
  if (generation > maxGenerations) throw reached("chain", "reports of sub-agents have started others too often", generation, maxGenerations);
  const text = "SELECT count(*) AS chained FROM subagents WHERE json_extract(data, '$.chain.root') = ? AND json_extract(data, '$.chain.generation') > 0";
  const chained = numberOf(sql(text), root);
  if (chained >= maxChildren) throw reached("chain", "reports of sub-agents have started too many others", chained, maxChildren);
}

export const subagentsWrites = {
  "subagents.spawn"(context, { limits, budgets = [], ...run }) {
    checkChain(context, limits.chain);
    const { free } = checkLimits(context, run.requesterSessionKey, limits);
    // As many as may still come, and one for the session itself.
    const shares = reserve(context, run.requesterSessionKey, budgets, free + 1);
    add(context, run);
    if (shares.length > 0) setShares(context, run.runId, shares);
  },
  "subagents.end"(context, { runId, outcome, error, startedAt, archiveMs, unlessWaiting = false, orUnannounced = false }) {
    const { sql, now } = context;
    if (unlessWaiting && sql(WAITING).get(runId, now - GOES_ON_MS)) return { ended: false };
    giveBack(context, runId);
    const text = `UPDATE subagents SET state = 'ended', outcome = ?, ended_at = ?, archive_at = ?,
      started_at = coalesce(started_at, ?, (SELECT turns.started_at FROM turns WHERE turns.id = run_id)),
      data = CASE WHEN ? IS NULL THEN data ELSE json_set(data, '$.error', ?) END
      WHERE run_id = ? AND (state <> 'ended' OR (? AND announced = 0 AND outcome IS NOT 'killed'))`;
    const failure = error ?? null;
    const archiveAt = archiveMs === undefined ? null : now + archiveMs;
    return { ended: sql(text).run(outcome, now, archiveAt, startedAt ?? null, failure, failure, runId, Number(orUnannounced)).changes === 1 };
  },
  "subagents.announced"({ sql }, { runIds }) {
    for (const runId of runIds) {
      if (sql("UPDATE subagents SET announced = 1 WHERE run_id = ? AND announced = 0 AND outcome IS NOT 'killed'").run(runId).changes === 1) continue;
      throw new AppError("CONFLICT", `subagent run ${runId} was already announced, was stopped, or does not exist`, { details: { runId } });
    }
  },
  "subagents.replace"(context, { runId, by, data }) {
    const row = runOf(context, runId);
    if (!row || row.state === "ended") throw new AppError("CONFLICT", `subagent run ${runId} has ended`, { details: { runId } });
    const [sharing] = sharers(context, "AND run_id = ?", runId);
    context.sql("UPDATE subagents SET run_id = ?, started_at = NULL, data = ? WHERE run_id = ?").run(by, JSON.stringify(data ?? null), runId);
    if (sharing) setShares(context, by, sharing.shares);
  },
  "subagents.add": add,
  "subagents.patch"(context, { runId, patch }) {
    const row = runOf(context, runId);
    if (!row) throw new AppError("NOT_FOUND", `there is no subagent run ${runId}`);
    const changesEnd = (patch.state !== undefined && patch.state !== "ended") || (patch.outcome !== undefined && patch.outcome !== row.outcome);
    if (row.state === "ended" && changesEnd) {
      throw new AppError("CONFLICT", `subagent run ${runId} has ended (${row.outcome ?? "no outcome"}); its outcome cannot be changed`, { details: { runId } });
    }
    const changes: Partial<SubagentRow> = Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined));
    const next: SubagentRow = { ...row, ...changes };
    context
      .sql("UPDATE subagents SET state = ?, outcome = ?, announced = ?, started_at = ?, ended_at = ?, archive_at = ?, data = ? WHERE run_id = ?")
      .run(next.state, next.outcome, next.announced ? 1 : 0, next.startedAt, next.endedAt, next.archiveAt, JSON.stringify(next.data ?? null), runId);
    return next;
  },
  "subagents.delete": ({ sql }, { runId }) => ({ deleted: sql("DELETE FROM subagents WHERE run_id = ?").run(runId).changes === 1 }),
} satisfies WriteHandlers<SubagentsWrites>;

export const subagentsReads = {
  "subagents.pending"({ sql }) {
    const row = sql("SELECT sum(state <> 'ended' OR announced = 0) AS unsettled, min(archive_at) AS at FROM subagents").get();
    return { open: Number(row?.["unsettled"] ?? 0), archiveAt: typeof row?.["at"] === "number" ? row["at"] : null };
  },
  "subagents.reserved": (context, { exceptFor, ...budget }) => reservedOf(context, budget, exceptFor),
  "subagents.get": (context, { runId }) => runOf(context, runId),
  "subagents.list"({ sql }, filter) {
    const { text, values } = where([
      ["requester_session_key = ?", filter.requesterSessionKey],
      ["child_session_key = ?", filter.childSessionKey],
      ["(state <> 'ended') = ?", filter.unfinished === undefined ? undefined : Number(filter.unfinished)],
      ["(announced = 0) = ?", filter.unannounced === undefined ? undefined : Number(filter.unannounced)],
      ["archive_at <= ?", filter.archiveUntil],
      ["(state <> 'ended' OR ended_at >= ?)", filter.endedSince],
    ]);
    const limited = `run_id IN (SELECT run_id FROM subagents WHERE ${text} ORDER BY (state = 'ended'), created_at DESC, run_id LIMIT ?)`;
    const query = `SELECT ${COLUMNS} FROM subagents WHERE ${filter.limit === undefined ? text : limited} ORDER BY created_at, run_id`;
    return shapeAll<SubagentRow>(sql(query).all(...values, ...(filter.limit === undefined ? [] : [filter.limit])), ["data"], ["announced"]);
  },
} satisfies ReadHandlers<SubagentsReads>;
