/** Stopping children with everything that they and their reports may start. */
import { failpoint } from "../../base/failpoints.ts";
import { archiveAfterMs } from "../../conversation/index.ts";
import type { Write } from "../../store/index.ts";
import { announceId, isAtRest, type Announcer } from "./announce.ts";
import { childOf, isActive, nameOf, type Child, type SubagentsDeps } from "./child.ts";

export interface StopDeps extends SubagentsDeps {
  readonly announcer: Pick<Announcer, "arrived" | "pause" | "ready">;
  /** Resolves when children that these sessions were just starting are on disk, or were refused. */
  readonly untilStarted: (sessionKeys: readonly string[]) => Promise<unknown>;
  /** A child has ended without its run: it was stopped. */
  readonly ended: (child: Child) => void;
  /** A child was stopped whose run had ended: it waited for its own children. */
  readonly stoppedWaiting: (child: Child) => void;
}

const MAX_TREE = 10_000;

/** A child with everything below it, ended ones as well: what they started may still run. */
async function treeOf({ store }: SubagentsDeps, roots: readonly Child[]): Promise<readonly Child[]> {
  const tree = [...roots];
  for (let at = 0; at < tree.length && tree.length < MAX_TREE; at += 1) {
    const child = tree[at];
    if (child) tree.push(...(await store.read("subagents.list", { requesterSessionKey: child.childSessionKey })).map(childOf));
  }
  return tree;
}

/** So often is looked again for what came about while something was stopped. */
const MOST_ROUNDS = 10;
const START_WAIT_MS = 1000;

/** Children whose run has ended and that are not reported: those that wait for their own children or go on with what these found, and those that are done. */
async function unreportedIn(deps: StopDeps, tree: readonly Child[]): Promise<{ readonly waiting: readonly Child[]; readonly done: readonly Child[] }> {
  const [waiting, done]: [Child[], Child[]] = [[], []];
  for (const child of tree)
    if (!isActive(child) && !child.announced && child.outcome !== "killed") ((await isAtRest(deps, child)) ? done : waiting).push(child);
  return { waiting, done };
}

/** One round of a stop. Gives the children that were stopped. */
async function stopTree(deps: StopDeps, roots: readonly Child[]): Promise<readonly Child[]> {
  const tree = await treeOf(deps, roots);
  const sessionKeys = tree.map(({ childSessionKey }) => childSessionKey);
  using _paused = deps.announcer.pause(sessionKeys);
  await Promise.all(sessionKeys.map(deps.announcer.arrived));
  const archiveMs = archiveAfterMs(deps.config.current);
  const active = tree.filter(isActive);
  const { waiting, done } = await unreportedIn(deps, tree);
  // Nobody is left to read what children of stopped ones found; what the session's own children found is still reported.
  const unread = done.filter((child) => !roots.includes(child));
  const end = { outcome: "killed", error: "killed", archiveMs } as const;
  const writes: readonly Write[] = [
    ...active.map(({ runId }): Write => ["subagents.end", { runId, ...end }]),
    ...waiting.map(({ runId }): Write => ["subagents.end", { runId, ...end, orUnannounced: true }]),
    ...unread.map(({ runId }): Write => ["subagents.patch", { runId, patch: { announced: true } }]),
  ];
  if (writes.length > 0) {
    await deps.store.commit(writes);
    failpoint("subagent.killed");
  }
  await confirmStopped(deps, [...active, ...waiting, ...unread]);
  // Also what children that have ended left running.
  for (const key of sessionKeys) await deps.killProcesses(key);
  const stopped = { state: "ended", outcome: "killed", endedAt: deps.clock.now() } as const;
  for (const child of active) deps.ended({ ...child, ...stopped });
  for (const child of waiting) deps.stoppedWaiting({ ...child, ...stopped });
  await within(deps, deps.untilStarted(sessionKeys), START_WAIT_MS);
  return [...active, ...waiting];
}

async function stopRounds(deps: StopDeps, roots: readonly Child[]): Promise<readonly Child[]> {
  const stopped: Child[] = [];
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    const rows = await Promise.all(roots.map(({ runId }) => deps.store.read("subagents.get", { runId })));
    const found = await stopTree(
      deps,
      rows.flatMap((row) => (row ? [childOf(row)] : [])),
    );
    stopped.push(...found);
    if (found.length === 0) break;
  }
  return stopped;
}

/** Sub-agents that waited for what was stopped report now, when nothing else of theirs is open. */
async function reportWaiting({ store, announcer }: StopDeps, sessionKeys: readonly string[]): Promise<void> {
  for (const sessionKey of new Set(sessionKeys)) {
    if (!sessionKey.includes(":subagent:")) continue;
    for (const row of await store.read("subagents.list", { childSessionKey: sessionKey })) announcer.ready(childOf(row));
  }
}

/** Stops children with everything below, on disk first: from then on nothing below starts anything. Gives those that were stopped. */
export async function stop(deps: StopDeps, roots: readonly Child[]): Promise<readonly Child[]> {
  const stopped = await stopRounds(deps, roots);
  await reportWaiting(
    deps,
    roots.map(({ requesterSessionKey }) => requesterSessionKey),
  );
  return stopped;
}

/**
 * Stops everything that a session started, and what is on its way to start more: results that are to be reported in a turn are not any more, and reports
 * that wait or run are stopped. What is sent to a chat without a turn is still sent. While this goes on no report comes to the session, so that what it finds
 * is all there is: a report that runs is stopped before the children are looked for that it may have started.
 */
export async function stopAll(
  deps: StopDeps,
  sessionKey: string,
): Promise<{ readonly killed: number; readonly dropped: number; readonly names: readonly string[] }> {
  const { store, conversation, announcer } = deps;
  using _paused = announcer.pause([sessionKey]);
  const read = async (): Promise<readonly Child[]> => (await store.read("subagents.list", { requesterSessionKey: sessionKey })).map(childOf);
  const isPending = ({ state, announced, data }: Child): boolean => state === "ended" && !announced && data.requesterOrigin.reply === undefined;
  const names: string[] = [];
  let [killed, dropped] = [0, 0];
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    // One that is on disk may not have come to its lane yet.
    await announcer.arrived(sessionKey);
    const reports = (await read()).flatMap((child) => conversation().abort({ sessionKey, runId: announceId(child) }, "stop"));
    await within(deps, deps.untilStarted([sessionKey]), START_WAIT_MS);
    const children = await read();
    const ended = await stopRounds(deps, children);
    const pending = (await read()).filter(isPending);
    if (pending.length > 0) {
      await store.commit(pending.map(({ runId }): Write => ["subagents.patch", { runId, patch: { announced: true } }]));
      failpoint("subagent.killed");
    }
    names.push(...ended.filter(({ requesterSessionKey }) => requesterSessionKey === sessionKey).map(nameOf));
    killed += ended.length;
    dropped += reports.length + pending.length;
    if (reports.length + pending.length + ended.length === 0) break;
  }
  await reportWaiting(deps, [sessionKey]);
  return { killed, dropped, names };
}

/** Ends the runs of stopped children, and records that nothing is left to be done for them. */
export async function confirmStopped(deps: Pick<SubagentsDeps, "conversation" | "store" | "killProcesses">, children: readonly Child[]): Promise<void> {
  for (const { childSessionKey } of children) deps.conversation().abort({ sessionKey: childSessionKey }, "stop");
  for (const { childSessionKey } of children) await deps.killProcesses(childSessionKey);
  for (const { runId } of children) await deps.store.write("subagents.patch", { runId, patch: { announced: true } }).catch(() => {});
}

/** Resolves with undefined when the time is over first. */
export async function within<T>({ clock }: SubagentsDeps, work: Promise<T>, ms: number, signal?: AbortSignal): Promise<T | undefined> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  using _timer = clock.after(ms, () => resolve(undefined));
  signal?.addEventListener("abort", () => resolve(undefined), { once: true });
  if (signal?.aborted) resolve(undefined);
  return await Promise.race([work, promise]);
}
