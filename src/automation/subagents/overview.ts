/** Sub-agents of all sessions, for clients: a flat list that is a tree by who started whom. */
import { AppError } from "../../base/errors.ts";
import { clip } from "../../base/text.ts";
import type { MethodParams, MethodResult } from "../../protocol/index.ts";
import type { UsageGroup } from "../../store/index.ts";
import { childOf, isActive, type Child, type SubagentsDeps } from "./child.ts";
import { statusOf, type Control } from "./control.ts";
import { stop, type StopDeps } from "./stopping.ts";

type Asked = MethodParams<"subagents.list">;
type Overview = MethodResult<"subagents.list">;
type Shown = Overview["subagents"][number];

export interface Overviews {
  /** Those that run or ended lately, oldest first, with all that they are below of. */
  overview(asked: Asked): Promise<Overview>;
  /** Stops the child of a session with everything below. Gives how many were stopped; `NOT_FOUND` when there is no such child. */
  killChild(sessionKey: string): Promise<number>;
  /** Has the child of a session go on with a message; once for each cause. */
  steerChild(sessionKey: string, message: string, cause?: string): Promise<{ readonly steered: boolean; readonly runId: string }>;
}

const RECENT_MINUTES = 1440;
const LIMIT = 200;
const TASK_CHARS = 2000;

async function childIn({ store }: SubagentsDeps, sessionKey: string): Promise<Child | undefined> {
  const [row] = await store.read("subagents.list", { childSessionKey: sessionKey, limit: 1 });
  return row && childOf(row);
}

/** Ended long ago, or past the limit: what is shown below them hangs on them all the same. */
async function withParents(deps: SubagentsDeps, children: readonly Child[]): Promise<readonly Child[]> {
  const known = new Map(children.map((child) => [child.childSessionKey, child]));
  const wanted = children.map(({ requesterSessionKey }) => requesterSessionKey);
  for (let key = wanted.pop(); key !== undefined; key = wanted.pop()) {
    if (!key.includes(":subagent:") || known.has(key)) continue;
    const parent = await childIn(deps, key);
    if (!parent) continue;
    known.set(key, parent);
    wanted.push(parent.requesterSessionKey);
  }
  return [...known.values()].toSorted((a, b) => a.createdAt - b.createdAt);
}

/** Only what is below a session. */
function below(children: readonly Child[], sessionKey: string): readonly Child[] {
  const byRequester = Map.groupBy(children, ({ requesterSessionKey }) => requesterSessionKey);
  const kept = new Set<Child>();
  const keys = [sessionKey];
  for (const key of keys) {
    for (const child of byRequester.get(key) ?? []) {
      if (kept.has(child)) continue;
      kept.add(child);
      keys.push(child.childSessionKey);
    }
  }
  return children.filter((child) => kept.has(child));
}

/** What a child used, and the model that it used last. */
function spent(groups: readonly UsageGroup[]): Pick<Shown, "tokens" | "costUsd"> & { readonly model: string | undefined } {
  const sum = (of: (group: UsageGroup) => number): number => groups.reduce((total, group) => total + of(group), 0);
  const [last] = groups.toSorted((a, b) => b.lastAt - a.lastAt);
  return {
    tokens: {
      input: sum(({ input }) => input),
      output: sum(({ output }) => output),
      total: sum(({ input, output, cacheRead, cacheWrite }) => input + output + cacheRead + cacheWrite),
    },
    costUsd: sum(({ cost }) => cost),
    model: last && `${last.provider}/${last.model}`,
  };
}

async function shownChild(deps: SubagentsDeps, child: Child, usage: readonly UsageGroup[]): Promise<Shown> {
  const { runId, childSessionKey, requesterSessionKey, createdAt, endedAt, announced, data } = child;
  const [{ status, startedAt = child.startedAt ?? undefined }, session] = await Promise.all([
    statusOf(deps, child),
    deps.store.read("sessions.get", { key: childSessionKey }),
  ]);
  const { model = data.model, tokens, costUsd } = spent(usage);
  return {
    runId,
    sessionKey: childSessionKey,
    requesterSessionKey,
    agentId: data.agentId,
    ...(data.label === undefined ? {} : { label: data.label }),
    task: clip(data.task, TASK_CHARS),
    status,
    ...(data.error === undefined || status === "killed" ? {} : { error: data.error }),
    ...(model === undefined ? {} : { model }),
    depth: data.depth,
    createdAt,
    ...(startedAt === undefined ? {} : { startedAt }),
    ...(endedAt === null ? {} : { endedAt }),
    tokens,
    costUsd,
    reported: announced,
    hasSession: session !== undefined,
  };
}

export function createOverviews(deps: StopDeps, control: Pick<Control, "killBelow" | "steer">): Overviews {
  const { store, clock } = deps;

  async function existing(sessionKey: string): Promise<Child> {
    const child = await childIn(deps, sessionKey);
    if (child) return child;
    throw new AppError("NOT_FOUND", `there is no sub-agent with the session ${JSON.stringify(clip(sessionKey, 200))}; see subagents.list`);
  }

  return {
    async overview({ sessionKey, recentMinutes = RECENT_MINUTES, limit = LIMIT }) {
      const ts = clock.now();
      const rows = await store.read("subagents.list", { endedSince: ts - recentMinutes * 60_000, limit: limit + 1 });
      const all = rows.map(childOf);
      const over = all.length > limit ? (all.find((child) => !isActive(child)) ?? all[0]) : undefined;
      const found = await withParents(
        deps,
        all.filter((child) => child !== over),
      );
      const children = sessionKey === undefined ? found : below(found, sessionKey);
      const usage = await store.read("usage.totals", {
        sessionKeys: children.map(({ childSessionKey }) => childSessionKey),
        by: ["sessionKey", "provider", "model"],
      });
      const byKey = Map.groupBy(usage, (group) => group.sessionKey);
      const subagents = await Promise.all(children.map((child) => shownChild(deps, child, byKey.get(child.childSessionKey) ?? [])));
      return { ts, subagents, truncated: over !== undefined };
    },
    async killChild(sessionKey) {
      const child = await existing(sessionKey);
      if (!isActive(child) && child.announced) return control.killBelow(sessionKey);
      return (await stop(deps, [child])).length;
    },
    async steerChild(sessionKey, message, cause) {
      const child = await existing(sessionKey);
      const done = await control.steer(child.requesterSessionKey, child.childSessionKey, message, cause);
      return "done" in done ? { steered: false, runId: done.done.runId } : { steered: true, runId: done.runId };
    },
  };
}
