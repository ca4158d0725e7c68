import { AppError } from "../../../base/errors.ts";
import type {
  UsageBySession,
  UsageDimension,
  UsageFilter,
  UsageGroup,
  UsageOfMany,
  UsageOfTurn,
  UsageOutcomes,
  UsagePoint,
  UsageReads,
  UsageTotals,
  UsageWrites,
} from "../../areas/usage.ts";
import { NO_TOTALS } from "../../areas/usage.ts";
import { shapeAll, where, type ReadHandlers, type WriteHandlers } from "../handlers.ts";
import { TURN_IS_OTHER } from "../schema-lean.ts";
import { eachRow } from "../../rows.ts";
import { keysOf } from "../../../base/records.ts";

/** What a kind of input counts as: an answer that is given once more, or after a command, belongs to its message. */
const CAUSE = "CASE WHEN kind IN ('exec', 'regenerate') THEN 'message' ELSE kind END";

/** The kind of an input of the turn. Each of the two conditions has an index; for both at once there is none. */
const inputKind = (condition: string): string => `SELECT ${CAUSE} FROM inbox WHERE turn_id = usage.turn_id AND ${condition} LIMIT 1`;

const DIMENSIONS: Readonly<Record<UsageDimension, string>> = {
  day: "day",
  sessionKey: "session_key",
  agentId: "agent_id",
  channel: "channel",
  sender: "sender",
  provider: "provider",
  model: "model",
  work: `CASE WHEN channel = 'media' THEN 'media' WHEN session_key LIKE '%:cron:%' THEN 'cron' WHEN session_key LIKE '%:subagent:%' THEN 'subagent'
    ELSE coalesce((${inputKind("message_id = usage.turn_id")}), (${inputKind(TURN_IS_OTHER)}), 'other') END`,
};

const TOTALS = `count(*) AS calls, coalesce(sum(failed), 0) AS failed, coalesce(sum(input), 0) AS input, coalesce(sum(output), 0) AS output,
  coalesce(sum(cache_read), 0) AS cacheRead, coalesce(sum(cache_write), 0) AS cacheWrite, coalesce(sum(cost), 0.0) AS cost,
  coalesce(sum(input_cost), 0.0) AS inputCost, coalesce(sum(output_cost), 0.0) AS outputCost, coalesce(sum(cache_read_cost), 0.0) AS cacheReadCost,
  coalesce(sum(cache_write_cost), 0.0) AS cacheWriteCost,
  coalesce(sum(duration_ms), 0) AS durationMs, coalesce(min(at), 0) AS firstAt, coalesce(max(at), 0) AS lastAt`;

export const usageWrites = {
  "usage.add"({ sql, now }, row) {
    const at = row.at ?? now;
    const text = `INSERT INTO usage (at, day, session_key, agent_id, channel, sender, provider, model, turn_id, input, output, cache_read, cache_write, cost, duration_ms, failed,
        input_cost, output_cost, cache_read_cost, cache_write_cost)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
    const counts = [row.input, row.output, row.cacheRead, row.cacheWrite].map(Math.trunc);
    sql(text).run(
      at,
      new Date(at).toISOString().slice(0, 10),
      row.sessionKey,
      row.agentId,
      row.channel ?? null,
      row.sender ?? null,
      row.provider,
      row.model,
      row.turnId ?? null,
      ...counts,
      row.cost,
      Math.trunc(row.durationMs),
      row.failed === true ? 1 : 0,
      ...[row.costs?.input, row.costs?.output, row.costs?.cacheRead, row.costs?.cacheWrite].map((cost) => cost ?? null),
    );
  },
} satisfies WriteHandlers<UsageWrites>;

const matching = ({ fromDay, toDay, since, before, sessionKey, sessionKeys, agentId, sender, provider, model }: UsageFilter) =>
  where([
    ["day >= ?", fromDay],
    ["day <= ?", toDay],
    ["at >= ?", since],
    ["at < ?", before],
    ["session_key = ?", sessionKey],
    ["session_key IN (SELECT value FROM json_each(?))", sessionKeys === undefined ? undefined : JSON.stringify(sessionKeys)],
    ["agent_id = ?", agentId],
    ["sender = ?", sender],
    ["provider = ?", provider],
    ["model = ?", model],
  ]);

type SessionTotals = UsageTotals & { readonly sessionKey: string };
const { firstAt: _firstAt, lastAt: _lastAt, ...NOTHING } = NO_TOTALS;
const SUMMED = keysOf(NOTHING);
const tokensOf = ({ input, output, cacheRead, cacheWrite }: UsageTotals): number => input + output + cacheRead + cacheWrite;

/** Holds no more than the largest, however many sessions there are. `all` comes with the most expensive first. */
function gather(all: Iterable<SessionTotals & { readonly kept: 0 | 1 }>, most: number): UsageBySession {
  const nothing = (): Record<keyof UsageOfMany, number> => ({ sessions: 0, ...NOTHING });
  const [others, removed] = [nothing(), nothing()];
  const dearest: SessionTotals[] = [];
  /** The most tokens first. */
  let longest: SessionTotals[] = [];
  const add = (to: Record<keyof UsageOfMany, number>, row: SessionTotals): void => {
    to.sessions += 1;
    for (const name of SUMMED) to[name] += row[name];
  };
  for (const { kept, ...row } of all) {
    if (kept === 0) add(removed, row);
    else if (dearest.length < most) dearest.push(row);
    else {
      const at = longest.findIndex((other) => tokensOf(other) < tokensOf(row));
      longest = at < 0 ? [...longest, row] : longest.toSpliced(at, 0, row);
      for (const left of longest.splice(most)) add(others, left);
    }
  }
  // Of the sessions beyond the most expensive, only as many can be among the longest as have more tokens than they.
  const threshold = [...dearest, ...longest].map(tokensOf).sort((a, b) => b - a)[most - 1] ?? 0;
  const shown = longest.filter((row) => tokensOf(row) >= threshold);
  for (const row of longest) if (!shown.includes(row)) add(others, row);
  return {
    rows: [...dearest, ...shown].sort((a, b) => b.cost - a.cost || tokensOf(b) - tokensOf(a) || (a.sessionKey < b.sessionKey ? -1 : 1)),
    others,
    removed,
  };
}

export const usageReads = {
  "usage.totals"({ sql }, { by, ...filter }) {
    const columns = by.map((dimension) => {
      const column = DIMENSIONS[dimension];
      if (column === undefined) throw new AppError("INVALID_INPUT", `usage has no dimension ${dimension}; known: ${Object.keys(DIMENSIONS).join(", ")}`);
      return { column, named: `${column} AS ${dimension}` };
    });
    const { text, values } = matching(filter);
    const group = columns.map(({ column }) => column).join(", ");
    const grouped = group === "" ? "" : `GROUP BY ${group} ORDER BY ${group}`;
    return shapeAll<UsageGroup>(sql(`SELECT ${[...columns.map(({ named }) => named), TOTALS].join(", ")} FROM usage WHERE ${text} ${grouped}`).all(...values));
  },
  "usage.bySession"({ sql }, { most, ...filter }) {
    const { text, values } = matching(filter);
    const query = `SELECT session_key AS sessionKey, EXISTS (SELECT 1 FROM sessions WHERE sessions.key = usage.session_key) AS kept, ${TOTALS}
      FROM usage WHERE ${text} GROUP BY session_key ORDER BY cost DESC, sum(input + output + cache_read + cache_write) DESC, session_key`;
    return gather(eachRow(sql(query), ...values), most);
  },
  "usage.outcomes": ({ sql }, { since, stepMs }) =>
    shapeAll<UsageOutcomes>(
      sql(`SELECT ?1 + CAST((at - ?1) / ?2 AS INTEGER) * ?2 AS "from", count(*) AS calls, coalesce(sum(failed), 0) AS failed
        FROM usage WHERE day >= ?3 AND at >= ?1 GROUP BY 1 ORDER BY 1`).all(Math.trunc(since), Math.trunc(stepMs), new Date(since).toISOString().slice(0, 10)),
    ),
  "usage.points"({ sql }, { sessionKey, limit = 1000 }) {
    const text = `SELECT at, provider, model, input, output, cache_read AS cacheRead, cache_write AS cacheWrite, cost FROM usage WHERE session_key = ? ORDER BY at DESC, seq DESC LIMIT ?`;
    return [...shapeAll<UsagePoint>(sql(text).all(sessionKey, limit))].reverse();
  },
  "usage.ofTurn"({ sql }, { sessionKey, turnId, since = 0 }) {
    const text = `SELECT at, provider, model, input, output, cache_read AS cacheRead, cache_write AS cacheWrite, cost, duration_ms AS durationMs, failed
      FROM usage WHERE session_key = ? AND at >= ? AND turn_id = ? ORDER BY at, seq`;
    return shapeAll<UsageOfTurn>(sql(text).all(sessionKey, since, turnId), [], ["failed"]);
  },
} satisfies ReadHandlers<UsageReads>;
