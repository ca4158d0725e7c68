import { isRecord } from "../../../base/records.ts";
import type { MethodParams, MethodResult } from "../../../protocol/index.ts";
import { newestRows } from "../../../sessions/index.ts";
import type { Store, UsageDimension, UsageGroup, UsageOfMany } from "../../../store/index.ts";
import type { MethodDeps } from "../deps.ts";
import { canonicalKey, findSession } from "../sessions/keys.ts";
import { liveFile, messageOfRow, shownText } from "../sessions/transcripts.ts";
import { NO_USAGE, daysOf, totalsOf, type Days, type Totals } from "./totals.ts";

type BySession = NonNullable<MethodResult<"sessions.usage">["aggregates"]["bySession"]>;

const together = ({ sessions, ...sums }: UsageOfMany): { readonly sessions: number; readonly totals: Totals } => ({ sessions, totals: totalsOf(sums) });

/** What each session used: the largest by cost and by tokens one by one, the others and those that were removed together. Nothing is left out. */
async function readBySession(
  store: Store,
  filter: { readonly fromDay: string; readonly toDay: string; readonly sessionKey?: string | undefined },
  most: number,
): Promise<BySession> {
  const { rows, others, removed } = await store.read("usage.bySession", { ...filter, most });
  const names = new Map((await store.read("sessions.names", { keys: rows.map(({ sessionKey }) => sessionKey) })).map(({ key, name }) => [key, name]));
  return {
    rows: rows.map((row) => ({ key: row.sessionKey, name: names.get(row.sessionKey) ?? row.sessionKey, count: row.calls, totals: totalsOf(row) })),
    others: together(others),
    removed: together(removed),
  };
}

type Deps = Pick<MethodDeps, "config" | "store" | "clock">;
type Result = MethodResult<"sessions.usage">;

interface Filter extends Days {
  readonly sessionKey?: string | undefined;
  readonly sessionKeys?: readonly string[] | undefined;
}

function read(store: Store, { fromDay, toDay, sessionKey, sessionKeys }: Filter, by: readonly UsageDimension[]): Promise<readonly UsageGroup[]> {
  return store.read("usage.totals", { fromDay, toDay, sessionKey, sessionKeys, by });
}

const named = (rows: readonly UsageGroup[], ...names: readonly UsageDimension[]) =>
  rows.map((row) => {
    const keys = Object.fromEntries(names.flatMap((name) => (row[name] === null || row[name] === undefined ? [] : [[name, row[name]]])));
    return { ...keys, count: row.calls, totals: totalsOf(row) };
  });

/** Sessions that are listed one by one. */
const MOST_NAMED = 20;

async function aggregates(store: Store, filter: Filter, whole: UsageGroup | undefined): Promise<Result["aggregates"]> {
  const { fromDay, toDay, sessionKey } = filter;
  const [bySession, models, providers, agents, channels, works, days, modelDays] = await Promise.all([
    readBySession(store, { fromDay, toDay, sessionKey }, MOST_NAMED),
    read(store, filter, ["provider", "model"]),
    read(store, filter, ["provider"]),
    read(store, filter, ["agentId"]),
    read(store, filter, ["channel"]),
    read(store, filter, ["work"]),
    read(store, filter, ["day"]),
    read(store, filter, ["day", "provider", "model"]),
  ]);
  const latency = (row: UsageGroup) => ({ count: row.calls, avgMs: row.calls === 0 ? 0 : Math.round(row.durationMs / row.calls) });
  return {
    // Calls of models are what is counted; who said how much is in the transcripts.
    messages: { total: whole?.calls ?? 0, user: 0, assistant: whole?.calls ?? 0, toolCalls: 0, toolResults: 0, errors: whole?.failed ?? 0 },
    tools: { totalCalls: 0, uniqueTools: 0, tools: [] },
    byModel: named(models, "provider", "model"),
    byProvider: named(providers, "provider"),
    byAgent: named(agents, "agentId"),
    byChannel: named(channels, "channel"),
    byWork: named(works, "work"),
    bySession,
    ...(whole && whole.calls > 0 ? { latency: latency(whole) } : {}),
    dailyLatency: days.map((row) => ({ date: row.day, ...latency(row) })),
    modelDaily: modelDays.map((row) => {
      const { totalTokens, totalCost } = totalsOf(row);
      return { date: row.day, provider: row.provider, model: row.model, tokens: totalTokens, cost: totalCost, count: row.calls };
    }),
    daily: days.map((row) => {
      const { totalTokens, totalCost } = totalsOf(row);
      return { date: row.day, tokens: totalTokens, cost: totalCost, messages: row.calls, toolCalls: 0, errors: row.failed };
    }),
  };
}

const MAX_SESSIONS = 500;

/** Tokens and cost by session, newest session first. */
export async function readSessionsUsage(params: MethodParams<"sessions.usage">, { config, store, clock }: Deps): Promise<Result> {
  const now = clock.now();
  const sessionKey = params.key === undefined ? undefined : canonicalKey(params.key, config.current);
  const filter: Filter = { ...daysOf(params, now), sessionKey };
  const [whole] = await read(store, filter, []);
  const limit = Math.min(params.limit ?? 50, MAX_SESSIONS);
  const rows = sessionKey === undefined ? (await store.read("sessions.list", { limit })).rows : [await store.read("sessions.get", { key: sessionKey })];
  const sessionKeys = rows.flatMap((row) => (row ? [row.key] : []));
  const bySession = new Map((await read(store, { ...filter, sessionKeys }, ["sessionKey"])).map((row) => [row.sessionKey, row]));
  const sessions = rows.flatMap((row) => {
    if (!row) return [];
    const { key, agentId, entry } = row;
    const usage = bySession.get(key);
    const { label, channel, chatType } = entry;
    const shown = { ...(label === undefined ? {} : { label }), ...(channel === undefined ? {} : { channel }), ...(chatType === undefined ? {} : { chatType }) };
    const used = usage ? { ...totalsOf(usage), firstActivity: usage.firstAt, lastActivity: usage.lastAt } : null;
    return [{ key, ...shown, sessionId: entry.sessionId, updatedAt: entry.updatedAt, agentId, usage: used }];
  });
  return {
    updatedAt: now,
    startDate: filter.fromDay,
    endDate: filter.toDay,
    sessions,
    totals: whole ? totalsOf(whole) : NO_USAGE,
    aggregates: await aggregates(store, filter, whole),
  };
}

export async function readTimeseries(
  params: MethodParams<"sessions.usage.timeseries">,
  { config, store }: Deps,
): Promise<MethodResult<"sessions.usage.timeseries">> {
  const key = canonicalKey(params.key, config.current);
  const [session, rows] = await Promise.all([store.read("sessions.get", { key }), store.read("usage.points", { sessionKey: key })]);
  let cumulativeTokens = 0;
  let cumulativeCost = 0;
  const points = rows.map(({ at, input, output, cacheRead, cacheWrite, cost }) => {
    const totalTokens = input + output + cacheRead + cacheWrite;
    cumulativeTokens += totalTokens;
    cumulativeCost += cost;
    return { timestamp: at, input, output, cacheRead, cacheWrite, totalTokens, cost, cumulativeTokens, cumulativeCost };
  });
  return { ...(session ? { sessionId: session.entry.sessionId } : {}), points };
}

type UsageLog = MethodResult<"sessions.usage.logs">["logs"][number];

const MAX_LOGS = 1000;
const MAX_CONTENT = 2000;

/** What was said in a session, oldest first, with what each answer used. */
export async function readUsageLogs(params: MethodParams<"sessions.usage.logs">, deps: Deps): Promise<MethodResult<"sessions.usage.logs">> {
  const { store } = deps;
  const { session } = await findSession(params.key, deps);
  const file = session && (await liveFile(store, session));
  if (file === undefined) return { logs: [] };
  const limit = Math.min(params.limit ?? 200, MAX_LOGS);
  const logs: UsageLog[] = [];
  for await (const row of newestRows(store, file, limit * 2)) {
    if (logs.length === limit) break;
    const message = messageOfRow(row);
    const content = message ? shownText(message) : "";
    if (!message || content === "") continue;
    const { totalTokens: tokens, cost } = isRecord(message["usage"]) ? message["usage"] : {};
    const total = isRecord(cost) ? cost["total"] : undefined;
    const used = { ...(typeof tokens === "number" ? { tokens } : {}), ...(typeof total === "number" ? { cost: total } : {}) };
    logs.push({ timestamp: Number(message["timestamp"] ?? 0), role: String(message.role), content: content.slice(0, MAX_CONTENT), ...used });
  }
  return { logs: logs.reverse() };
}
