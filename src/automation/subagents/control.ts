/** Looking at children, stopping them, and talking to them. */
import { AppError } from "../../base/errors.ts";
import { failpoint } from "../../base/failpoints.ts";
import { clip } from "../../base/text.ts";
import type { RunOutcome, SubagentView } from "../../conversation/index.ts";
import type { Announcer } from "./announce.ts";
import { childOf, idOf, isActive, nameOf, requestFor, runtimeText, type Child, type SubagentsDeps } from "./child.ts";
import { resultOf, tokensOf } from "./result.ts";
import { stop, stopAll, within, type StopDeps } from "./stopping.ts";

export interface WaitedChild {
  readonly runId: string;
  readonly sessionKey: string;
  readonly name: string;
  readonly status: SubagentView["status"];
  readonly error?: string;
  readonly result?: string;
}

export interface Killed {
  readonly killed: number;
  /** Of `all`: results that are not reported any more, and reports that were stopped. */
  readonly dropped: number;
  readonly names: readonly string[];
  readonly child?: SubagentView;
}

export interface Control {
  /** Children of a session: those that run, then those that ended in the last `recentMs`; newest first. */
  list(sessionKey: string, recentMs?: number): Promise<readonly SubagentView[]>;
  /** `INVALID_INPUT` when nothing, or more than one, is meant. */
  find(sessionKey: string, target: string): Promise<SubagentView>;
  /** Stops a child, or `all`, with everything below. Gives how many were stopped, and what the named ones are called. */
  kill(sessionKey: string, target: string): Promise<Killed>;
  /** Stops everything below a session; with a run, only what that run started. Gives how many. */
  killBelow(sessionKey: string, runId?: string): Promise<number>;
  /** Has a child go on with a message instead of with what it does; once for each cause. */
  steer(
    sessionKey: string,
    target: string,
    message: string,
    cause?: string,
  ): Promise<{ readonly runId: string; readonly child: SubagentView } | { readonly done: SubagentView }>;
  /** Asks something in a child's session; undefined when there is no answer in time. */
  send(sessionKey: string, target: string, message: string, timeoutMs: number): Promise<RunOutcome | undefined>;
  /** Waits until children have ended, or the time is over. The caller gets their results, and they are not announced besides. */
  wait(sessionKey: string, asked: WaitRequest): Promise<{ readonly children: readonly WaitedChild[]; readonly isComplete: boolean }>;
}

export interface WaitRequest {
  /** The run that waits. */
  readonly runId: string;
  /** None: all that it started. */
  readonly targets: readonly string[];
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export interface ControlDeps extends StopDeps {
  readonly announcer: StopDeps["announcer"] & Pick<Announcer, "hold">;
  /** The results of these reached the one who waited for them. */
  readonly delivered: (children: readonly Child[]) => void;
  /** A run of a child that has to be followed to its end. */
  readonly follow: (runId: string) => void;
  /** A child goes on under another run. */
  readonly steered: (child: Child) => void;
  /** Resolves when the end of a followed child is on disk; undefined when it is not followed. */
  readonly untilEnded: (runId: string) => Promise<unknown> | undefined;
  /** Runs that are aborted because another one takes their place: what they started goes on. */
  readonly replaced: Set<string>;
}

const RECENT_MS = 30 * 60_000;
const MAX_STEER = 4000;
const STEER_EVERY_MS = 2000;
const STEER_WAIT_MS = 5000;
const LINE_CHARS = 80;
const NUMBER_CHARS = 20;
/** So much of a run's id names it. */
const RUN_ID_CHARS = 4;

/** What a session may act on: its own children, or those of its parent when it is one that cannot have any. */
async function ownerOf({ store }: SubagentsDeps, sessionKey: string): Promise<string> {
  if (!sessionKey.includes(":subagent:")) return sessionKey;
  const [own] = (await store.read("subagents.list", { childSessionKey: sessionKey })).map(childOf);
  return own && own.data.depth >= own.data.maxDepth ? own.requesterSessionKey : sessionKey;
}

export async function statusOf(
  { store }: SubagentsDeps,
  { runId, state, outcome }: Child,
): Promise<Pick<SubagentView, "status"> & { readonly startedAt?: number }> {
  if (state === "ended") {
    const status = outcome === "ok" ? "done" : outcome === "timeout" ? "timed out" : outcome === "killed" ? "killed" : "failed";
    return { status };
  }
  const turn = await store.read("turns.get", { id: runId });
  return turn ? { status: "running", startedAt: turn.startedAt } : { status: "queued" };
}

/** `1. label (model, 5s) running - task`. */
function lineOf({ index, name, label, model, runtimeMs, tokens, status, task }: Omit<SubagentView, "line">): string {
  const about = [model, runtimeText(runtimeMs), tokens.total > 0 ? `${tokens.total} tokens` : undefined].filter((part) => part !== undefined);
  return `${index}. ${name} (${about.join(", ")}) ${status}${label === undefined ? "" : ` - ${clip(task.replaceAll(/\s+/g, " "), LINE_CHARS)}`}`;
}

async function viewOf(deps: SubagentsDeps, child: Child, index: number): Promise<SubagentView> {
  const { runId, childSessionKey, requesterSessionKey, createdAt, endedAt, archiveAt, announced, data } = child;
  const [{ status, startedAt = child.startedAt ?? undefined }, session] = await Promise.all([
    statusOf(deps, child),
    deps.store.read("sessions.get", { key: childSessionKey }),
  ]);
  const entry = session?.entry;
  const { label, error, model = typeof entry?.["model"] === "string" ? entry["model"] : undefined, task, depth, cleanup, runTimeoutSeconds } = data;
  const { input, output } = await tokensOf(deps.store, child);
  const total = typeof entry?.["totalTokens"] === "number" ? entry["totalTokens"] : input + output;
  const tokens = { input, output, total };
  const view = {
    index,
    runId,
    sessionKey: childSessionKey,
    ...(entry ? { sessionId: entry.sessionId } : {}),
    requesterSessionKey,
    name: nameOf(child),
    ...(label === undefined ? {} : { label }),
    task,
    status,
    ...(error === undefined ? {} : { error }),
    ...(model === undefined ? {} : { model }),
    depth,
    cleanup,
    runTimeoutSeconds,
    announced,
    createdAt,
    ...(startedAt === undefined ? {} : { startedAt }),
    ...(endedAt === null ? {} : { endedAt }),
    ...(archiveAt === null ? {} : { archiveAt }),
    runtimeMs: (endedAt ?? deps.clock.now()) - (startedAt ?? createdAt),
    tokens,
    isActive: isActive(child),
  };
  return { ...view, line: lineOf(view) };
}

/** Children in the order of lists. */
async function childrenOf(deps: SubagentsDeps, sessionKey: string, recentMs: number): Promise<readonly Child[]> {
  const rows = await deps.store.read("subagents.list", { requesterSessionKey: await ownerOf(deps, sessionKey) });
  const newest = rows.map(childOf).reverse();
  const since = deps.clock.now() - recentMs;
  return [...newest.filter(isActive), ...newest.filter((child) => !isActive(child) && (child.endedAt ?? 0) >= since)];
}

/** What a person or a model wrote to name a child. */
function matching(children: readonly Child[], target: string): Child {
  const wanted = target.trim();
  const low = wanted.toLowerCase();
  const named = (fits: (child: Child) => boolean): readonly Child[] => children.filter(fits);
  const byTime = children.toSorted((a, b) => b.createdAt - a.createdAt);
  const isNumber = /^#?\d+$/.test(wanted);
  const numbered = isNumber ? children[Number(wanted.replace("#", "")) - 1] : undefined;
  if (isNumber && !numbered)
    throw new AppError("INVALID_INPUT", `the list has ${children.length} sub-agents, there is no number ${clip(wanted, NUMBER_CHARS)}`);
  const exact = low === "last" ? byTime[0] : (numbered ?? children.find(({ childSessionKey }) => childSessionKey === low));
  if (exact) return exact;
  const label = (child: Child): string => child.data.label?.toLowerCase() ?? "";
  const ways =
    low === ""
      ? []
      : [
          named((child) => label(child) === low),
          named((child) => label(child).startsWith(low)),
          named(({ runId }) => low.length >= RUN_ID_CHARS && runId.startsWith(low)),
        ];
  const found = ways.find((list) => list.length > 0) ?? [];
  const [first] = found;
  if (first && found.length === 1) return first;
  if (first)
    throw new AppError(
      "INVALID_INPUT",
      `${JSON.stringify(wanted)} is the name of ${found.length} sub-agents: ${found.map(nameOf).join(", ")}; use the number in the list`,
    );
  throw new AppError("INVALID_INPUT", `there is no sub-agent ${JSON.stringify(wanted)}; use a number from the list, "last", a label, or the id of a run`);
}

/** Ends the run that a child's own took the place of: nothing below it is stopped. */
export async function endReplaced(deps: ControlDeps, childSessionKey: string, runId: string): Promise<void> {
  const { conversation, replaced } = deps;
  replaced.add(runId);
  conversation().abort({ sessionKey: childSessionKey, runId }, "rpc");
  await within(deps, conversation().outcome(runId), STEER_WAIT_MS);
  replaced.delete(runId);
}

async function steerChild(deps: ControlDeps, child: Child, message: string, cause: string | undefined): Promise<string> {
  const { conversation, ids } = deps;
  const { takenBy: _taken, error: _error, ...known } = child.data;
  const data = { ...known, replaces: child.runId };
  const runId = cause === undefined ? ids.uuid() : idOf(`steer:${cause}`);
  if (child.runId === runId) return runId;
  await conversation().accept(requestFor(child, runId, message, "subagent"), [["subagents.replace", { runId: child.runId, by: runId, data }]]);
  failpoint("subagent.steered");
  deps.follow(runId);
  deps.steered({ ...child, runId });
  await endReplaced(deps, child.childSessionKey, child.runId);
  return runId;
}

/** The results that a run gets by waiting. */
async function takeResults(deps: ControlDeps, runIds: readonly string[], runId: string): Promise<readonly WaitedChild[]> {
  const results: WaitedChild[] = [];
  for (const id of runIds) {
    const row = await deps.store.read("subagents.get", { runId: id });
    if (!row) continue;
    const child = childOf(row);
    const { status } = await statusOf(deps, child);
    const { error } = child.data;
    const about = { runId: id, sessionKey: child.childSessionKey, name: nameOf(child), status, ...(error === undefined ? {} : { error }) };
    if (isActive(child)) results.push(about);
    else {
      // The same wait after a crash gets it again: it stays in the store.
      if (!child.announced) await deps.store.write("subagents.patch", { runId: id, patch: { announced: true, data: { ...child.data, takenBy: runId } } });
      results.push({ ...about, result: await resultOf(deps, child) });
      if (!child.announced) deps.delivered([child]);
    }
  }
  return results;
}

export function createControl(deps: ControlDeps): Control {
  const { store, clock } = deps;
  const steered = new Map<string, number>();
  const own = async (sessionKey: string, target: string): Promise<Child> => matching(await childrenOf(deps, sessionKey, RECENT_MS), target);

  async function find(sessionKey: string, target: string): Promise<SubagentView> {
    const children = await childrenOf(deps, sessionKey, RECENT_MS);
    const child = matching(children, target);
    return viewOf(deps, child, children.indexOf(child) + 1);
  }

  return {
    find,
    list: async (sessionKey, recentMs = RECENT_MS) =>
      Promise.all((await childrenOf(deps, sessionKey, recentMs)).map((child, at) => viewOf(deps, child, at + 1))),
    async kill(sessionKey, target) {
      if (["all", "*"].includes(target.trim().toLowerCase())) return stopAll(deps, await ownerOf(deps, sessionKey));
      const root = await own(sessionKey, target);
      const view = await find(sessionKey, target);
      const stopped = await stop(deps, [root]);
      return { killed: stopped.length, dropped: 0, names: stopped.filter(({ runId }) => runId === root.runId).map(nameOf), child: view };
    },
    async killBelow(sessionKey, runId) {
      if (runId === undefined) return (await stopAll(deps, sessionKey)).killed;
      const rows = (await store.read("subagents.list", { requesterSessionKey: sessionKey })).map(childOf);
      const stopped = await stop(
        deps,
        rows.filter(({ data }) => data.parentRunId === runId),
      );
      return stopped.length;
    },
    async steer(sessionKey, target, message, cause) {
      const text = message.trim();
      if (text === "") throw new AppError("INVALID_INPUT", "message required");
      if (text.length > MAX_STEER) throw new AppError("INVALID_INPUT", `the message has ${text.length} characters; the limit is ${MAX_STEER}`);
      const child = await own(sessionKey, target);
      const view = await find(sessionKey, target);
      if (!isActive(child)) return { done: view };
      const last = steered.get(child.childSessionKey);
      if (last !== undefined && clock.now() - last < STEER_EVERY_MS)
        throw new AppError("OVERLOADED", "this sub-agent was steered less than 2 seconds ago; wait a moment", { details: { retryAfterMs: STEER_EVERY_MS } });
      for (const [key, at] of steered) if (clock.now() - at >= STEER_EVERY_MS) steered.delete(key);
      steered.set(child.childSessionKey, clock.now());
      return { runId: await steerChild(deps, child, text, cause), child: view };
    },
    async send(sessionKey, target, message, timeoutMs) {
      const child = await own(sessionKey, target);
      const runId = deps.ids.uuid();
      const { ended } = await deps.conversation().accept(requestFor(child, runId, message, "session"));
      return ended ?? (await within(deps, deps.conversation().outcome(runId), timeoutMs));
    },
    async wait(sessionKey, { runId, targets, timeoutMs, signal }) {
      const children = await childrenOf(deps, sessionKey, RECENT_MS);
      const isOfRun = ({ data, announced }: Child): boolean => data.parentRunId === runId || data.takenBy === runId || !announced;
      const named = targets.length === 0 ? children.filter((child) => isActive(child) || isOfRun(child)) : targets.map((target) => matching(children, target));
      const runIds = [...new Set(named.map((child) => child.runId))];
      const held = deps.announcer.hold(runIds);
      try {
        const ended = Promise.all(named.filter(isActive).map((child) => deps.untilEnded(child.runId) ?? deps.conversation().outcome(child.runId)));
        // Those it waits for may need the slot of this one.
        await deps.conversation().withoutSlot(sessionKey, signal, () => within(deps, ended, timeoutMs, signal));
        const results = signal.aborted ? [] : await takeResults(deps, runIds, runId);
        return { children: results, isComplete: results.every(({ result }) => result !== undefined) };
      } finally {
        held[Symbol.dispose]();
        for (const id of runIds) {
          const row = await store.read("subagents.get", { runId: id });
          if (row && !isActive(row) && !row.announced) deps.announcer.ready(childOf(row));
        }
      }
    },
  };
}
