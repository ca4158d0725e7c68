/**
 * Children that an agent starts. A child is one row: the commit that adds it reserves its place inside the limits and puts its run into the inbox, the commit
 * that ends its turn records how it ended, and the one that reports it marks it as announced. A process that dies leaves rows: the next one goes on with them.
 */
import { messageOf } from "../../base/errors.ts";
import { failpoint } from "../../base/failpoints.ts";
import { archiveAfterMs, type RunOutcome } from "../../conversation/index.ts";
import type { EventPayload } from "../../protocol/index.ts";
import type { SubagentRow } from "../../store/index.ts";
import { createAnnouncer, settled } from "./announce.ts";
import { childOf, isActive, nameOf, type Child, type SubagentsDeps } from "./child.ts";
import { createControl, endReplaced, type Control, type ControlDeps } from "./control.ts";
import { createOverviews, type Overviews } from "./overview.ts";
import { lastMessages, type ShownLine } from "./result.ts";
import { createRunsFile, type RunsFile } from "./runs-file.ts";
import { readChild, spawnChild, type SpawnRequest, type SpawnResult } from "./spawn.ts";
import { confirmStopped, stop } from "./stopping.ts";

export interface Subagents extends Control, Overviews, AsyncDisposable {
  /** Resumes what the previous process left. */
  start(): Promise<void>;
  spawn(request: SpawnRequest): Promise<SpawnResult>;
  /** Who reads what happens in a session: itself, or for a child that has ended, the one that it reported to. `name`: of that child. */
  readerOf(sessionKey: string): Promise<{ readonly sessionKey: string; readonly name?: string }>;
  /** A session is about to be reset or deleted: what runs in it is stopped. Plugins get that as the outcome of a child that works in it. */
  sessionEnding(sessionKey: string, how: EndedSession): Promise<void>;
  /** The last messages of a child's session, oldest first. */
  log(sessionKey: string, target: string, limit: number, withTools: boolean): Promise<readonly ShownLine[]>;
}

type EndedSession = "reset" | "deleted";

const OUTCOMES = ["ok", "error", "timeout", "killed"] as const;
const SWEEP_MS = 60_000;
const REPORTED_MS = 24 * 60 * 60_000;

/** How a run ended, for a child whose row does not have it. */
function endOf(outcome: RunOutcome | undefined): { readonly outcome: "ok" | "error" | "timeout"; readonly error?: string } {
  if (!outcome) return { outcome: "error", error: "the run was lost: its process has ended" };
  if (outcome.status === "error") return { outcome: "error", error: outcome.error };
  if (outcome.status === "ok") return { outcome: "ok" };
  return outcome.abortedBy === "timeout" ? { outcome: "timeout" } : { outcome: "error", error: `aborted (${outcome.abortedBy ?? "rpc"})` };
}

const isLeft = (outcome: RunOutcome | undefined): boolean => outcome?.status === "error" && outcome.failure?.kind === "restarting";

/** Plugins are notified; nothing waits for them. */
function notifyEnded(
  deps: SubagentsDeps,
  { runId, childSessionKey, requesterSessionKey, outcome, endedAt, data }: Child,
  session: EndedSession | undefined,
): void {
  const hooks = deps.hooks();
  const context = { runId, childSessionKey, requesterSessionKey };
  const how = OUTCOMES.find((one) => one === outcome);
  const ended = session ?? how;
  const { accountId } = data.requesterOrigin;
  const { error } = data;
  if (hooks?.has("subagent_ended")) {
    const event = {
      targetSessionKey: childSessionKey,
      targetKind: "subagent" as const,
      reason: session === undefined ? (how === "killed" ? "killed" : "completed") : `session-${session === "reset" ? "reset" : "delete"}`,
      ...(ended === undefined ? {} : { outcome: ended }),
      ...(error === undefined ? {} : { error }),
      runId,
      endedAt: endedAt ?? deps.clock.now(),
      ...(accountId === undefined ? {} : { accountId }),
      sendFarewell: false,
    };
    void hooks.run("subagent_ended", event, context);
  }
  progress(deps, "ended", { runId, childSessionKey, requesterSessionKey }, how);
}

function progress(
  deps: SubagentsDeps,
  phase: "started" | "ended",
  context: Pick<Child, "runId" | "childSessionKey" | "requesterSessionKey">,
  outcome?: string,
): void {
  const hooks = deps.hooks();
  if (!hooks?.has("subagent_progress")) return;
  const { runId, childSessionKey } = context;
  void hooks.run("subagent_progress", { phase, runId, childSessionKey, ...(outcome === undefined ? {} : { outcome }) }, context);
}

type Action = EventPayload<"subagent">["action"];
type Changed = Pick<Child, "runId" | "childSessionKey" | "requesterSessionKey" | "outcome">;

/** The file is written, and clients are notified. */
function changesOf({ changed, clock }: SubagentsDeps, file: Pick<RunsFile, "changed">): (action: Action, child: Changed) => void {
  return (action, { runId, childSessionKey: sessionKey, requesterSessionKey, outcome: ended }) => {
    file.changed();
    const outcome = OUTCOMES.find((one) => one === ended);
    changed?.({ ts: clock.now(), action, runId, sessionKey, requesterSessionKey, ...(outcome === undefined ? {} : { outcome }) });
  };
}

/** Deletes the sessions of children that asked for it, once their results are on their way. */
async function cleanUp({ deleteSession, log }: SubagentsDeps, children: readonly Child[]): Promise<void> {
  for (const { childSessionKey, data } of children) {
    if (data.cleanup !== "delete") continue;
    await deleteSession(childSessionKey).catch((error: unknown) =>
      log.warn(`the session of a sub-agent could not be deleted: ${messageOf(error)}`, { childSessionKey }),
    );
  }
}

/** Puts the sessions of children away whose time is over, once a minute while there are any. */
function createSweep({ store, clock, deleteSession, log }: SubagentsDeps, removed: (row: SubagentRow) => void): { arm(): void; close(): void } {
  let timer: Disposable | undefined;
  let isClosed = false;

  async function sweep(): Promise<void> {
    const rows = await store.read("subagents.list", { archiveUntil: clock.now(), unfinished: false, unannounced: false });
    for (const row of rows) {
      if (isClosed) return;
      await deleteSession(row.childSessionKey);
      await store.write("subagents.delete", { runId: row.runId });
      removed(row);
    }
  }

  function arm(): void {
    if (timer || isClosed) return;
    timer = clock.after(SWEEP_MS, () => {
      timer = undefined;
      sweep()
        .catch((error: unknown) => log.warn(`the sessions of sub-agents could not be archived: ${messageOf(error)}`, { error }))
        .then(() => store.read("subagents.pending", {}))
        .then(({ archiveAt }) => (archiveAt === null ? undefined : arm()))
        .catch(() => {});
    });
  }

  return {
    arm,
    close() {
      isClosed = true;
      timer?.[Symbol.dispose]();
    },
  };
}

const SPANS = 20;

/**
 * Records the end of a child whose turn left its row open: its commands waited for approval, or the turn ended without it. What it does after its commands
 * is part of its work: it ends with the last of those turns.
 */
async function recordEnd(
  deps: SubagentsDeps,
  { runId, childSessionKey, createdAt }: Child,
  outcome: RunOutcome | undefined,
  closing: AbortSignal,
): Promise<void> {
  const { store, clock, config } = deps;
  const archiveMs = archiveAfterMs(config.current);
  if (outcome?.status !== "ok") return void (await store.write("subagents.end", { runId, ...endOf(outcome), archiveMs }));
  for (let child = await readChild(deps, runId); child && isActive(child); child = await readChild(deps, runId)) {
    await settled(deps, childSessionKey, closing);
    if (closing.aborted) return;
    const spans = await store.read("turns.spans", { sessionKey: childSessionKey, from: createdAt, until: clock.now() + 1, limit: SPANS });
    const last = spans.find(({ kind }) => kind === "exec" || kind === "subagent");
    const end = last && last.id !== runId ? await deps.conversation().outcome(last.id) : outcome;
    if (isLeft(end)) return;
    await store.write("subagents.end", { runId, ...endOf(end), archiveMs, unlessWaiting: true });
    failpoint("subagent.settled");
  }
}

interface Follower {
  /** Waits for the end of a child's run, and has it reported. */
  follow(runId: string): void;
  /** Resolves when the end of a followed child is on disk; undefined when it is not followed. */
  untilEnded(runId: string): Promise<void> | undefined;
}

/** `ended` is called with children whose end is on disk; not with those that were stopped. */
function createFollower(deps: SubagentsDeps, closing: AbortSignal, ended: (child: Child) => void): Follower {
  const { store, log } = deps;
  const followed = new Map<string, Promise<void>>();

  async function toEnd(runId: string): Promise<void> {
    const outcome = await deps.conversation().outcome(runId);
    if (closing.aborted || isLeft(outcome)) return;
    let child = await readChild(deps, runId);
    if (child && isActive(child)) {
      await recordEnd(deps, child, outcome, closing);
      // Another program left it; what that left long ago nobody waits for.
      if (!outcome && child.createdAt < deps.clock.now() - REPORTED_MS) await store.write("subagents.announced", { runIds: [runId] });
      child = await readChild(deps, runId);
    }
    if (child && !isActive(child) && child.outcome !== "killed") ended(child);
  }

  return {
    untilEnded: (runId) => followed.get(runId),
    follow(runId) {
      const following = toEnd(runId)
        .catch((error: unknown) => {
          if (!closing.aborted) log.error(`the end of a sub-agent could not be recorded: ${messageOf(error)}`, { runId, error });
        })
        .finally(() => followed.delete(runId));
      followed.set(runId, following);
    },
  };
}

async function readerOf(deps: Pick<SubagentsDeps, "store">, sessionKey: string): ReturnType<Subagents["readerOf"]> {
  const [row] = sessionKey.includes(":subagent:") ? await deps.store.read("subagents.list", { childSessionKey: sessionKey }) : [];
  if (!row || isActive(row) || row.outcome === "killed") return { sessionKey };
  const above = await readerOf(deps, row.requesterSessionKey);
  return { sessionKey: above.sessionKey, name: nameOf(childOf(row)) };
}

/** A child that is being started: a stop may come before it is on disk. */
interface Starting {
  readonly sessionKey: string;
  readonly runId: string;
  isStopped: boolean;
  /** Resolves when it is on disk, or was refused. */
  settled: Promise<unknown>;
}

interface Starts {
  readonly spawn: Subagents["spawn"];
  /** Runs of a session were aborted, or one: what they are just starting is not started, or ended at once. */
  stopped(sessionKey: string, runId: string | undefined): void;
  /** Resolves when what these sessions are just starting is on disk, or was refused. */
  settled(sessionKeys: readonly string[]): Promise<unknown>;
}

function createStarts(deps: SubagentsDeps, started: (child: Child) => void, end: (child: Child) => Promise<unknown>): Starts {
  const starting = new Set<Starting>();
  return {
    stopped(sessionKey, runId) {
      for (const one of starting) if (one.sessionKey === sessionKey && (runId === undefined || one.runId === runId)) one.isStopped = true;
    },
    settled: (sessionKeys) => Promise.allSettled([...starting].filter((one) => sessionKeys.includes(one.sessionKey)).map((one) => one.settled)),
    async spawn(request) {
      const { sessionKey, runId } = request.requester;
      const one: Starting = { sessionKey, runId, isStopped: false, settled: Promise.resolve() };
      starting.add(one);
      try {
        const spawning = spawnChild(deps, request, { isStopped: () => one.isStopped || request.signal?.aborted === true, started });
        one.settled = spawning;
        const result = await spawning;
        const child = one.isStopped && result.status === "accepted" ? await readChild(deps, result.runId) : undefined;
        if (child) await end(child);
        return result;
      } finally {
        starting.delete(one);
      }
    },
  };
}

interface Stoppable {
  readonly starts: Pick<Starts, "stopped">;
  readonly control: Pick<Control, "killBelow">;
  readonly replaced: ReadonlySet<string>;
}

/** What runs started is stopped with them. */
function followAborts({ conversation, log }: SubagentsDeps, { starts, control, replaced }: Stoppable): Disposable {
  return conversation().onAbort(({ sessionKey, runId }, reason) => {
    if (runId !== undefined && replaced.has(runId)) return;
    starts.stopped(sessionKey, runId);
    // A stop by a command ends them itself, and says how many there were.
    if (reason === "stop") return;
    control.killBelow(sessionKey, runId).catch((error: unknown) => log.error(`sub-agents could not be stopped: ${messageOf(error)}`, { sessionKey, error }));
  });
}

interface EndingSessions {
  readonly sessionEnding: Subagents["sessionEnding"];
  /** How the session of a child that has ended was ended. */
  take(sessionKey: string): EndedSession | undefined;
}

/** Sessions of children that are being reset or deleted, until the children have ended. */
function createEndingSessions({ store }: Pick<SubagentsDeps, "store">): EndingSessions {
  const ending = new Map<string, EndedSession>();
  return {
    async sessionEnding(sessionKey, how) {
      const rows = sessionKey.includes(":subagent:") ? await store.read("subagents.list", { childSessionKey: sessionKey }) : [];
      if (rows.some((row) => isActive(childOf(row)))) ending.set(sessionKey, how);
    },
    take(sessionKey) {
      const how = ending.get(sessionKey);
      ending.delete(sessionKey);
      return how;
    },
  };
}

/** Goes on with a child that the previous process left. */
async function resumeChild(deps: ControlDeps, child: Child): Promise<void> {
  const { childSessionKey, data } = child;
  // The process that steered it may have ended before it could stop what it did until then.
  if (isActive(child) && data.replaces !== undefined)
    endReplaced(deps, childSessionKey, data.replaces).catch((error: unknown) => deps.log.error(messageOf(error), { childSessionKey, error }));
  if (isActive(child)) deps.follow(child.runId);
  else if (child.outcome === "killed") await confirmStopped(deps, [child]);
  else deps.announcer.ready(child);
}

export function createSubagents(deps: SubagentsDeps): Subagents {
  const { store, log } = deps;
  const file = createRunsFile(deps);
  const changed = changesOf(deps, file);
  const delivered = (children: readonly Child[]): void => {
    file.changed();
    void cleanUp(deps, children).then(() => children.forEach((child) => changed("reported", child)));
  };
  const announcer = createAnnouncer(deps, delivered);
  const replaced = new Set<string>();
  const endings = createEndingSessions(deps);
  const sweep = createSweep(deps, (row) => changed("removed", row));
  const closing = new AbortController();
  const { follow, untilEnded } = createFollower(deps, closing.signal, (child) => {
    ended(child);
    sweep.arm();
    announcer.ready(child);
  });

  function ended(child: Child): void {
    changed("ended", child);
    notifyEnded(deps, child, endings.take(child.childSessionKey));
  }

  const controlDeps: ControlDeps = {
    ...deps,
    announcer,
    untilStarted: (sessionKeys) => starts.settled(sessionKeys),
    follow,
    untilEnded,
    steered: (child) => changed("steered", child),
    replaced,
    delivered,
    ended,
    stoppedWaiting: (child) => changed("ended", child),
  };
  const control = createControl(controlDeps);
  const starts = createStarts(
    deps,
    (child) => {
      changed("spawned", child);
      progress(deps, "started", child);
      follow(child.runId);
    },
    (child) => stop(controlDeps, [child]),
  );

  const onAbort = followAborts(deps, { starts, control, replaced });

  return {
    ...control,
    ...createOverviews(controlDeps, control),
    async start() {
      const { open, archiveAt } = await store.read("subagents.pending", {});
      if (archiveAt !== null) sweep.arm();
      if (open === 0) return;
      const left = [
        ...(await store.read("subagents.list", { unfinished: true })),
        ...(await store.read("subagents.list", { unfinished: false, unannounced: true })),
      ];
      log.info(`${left.length} sub-agents of the previous process are resumed or reported`);
      for (const child of left.map(childOf)) await resumeChild(controlDeps, child);
    },
    spawn: starts.spawn,
    readerOf: (sessionKey) => readerOf(deps, sessionKey),
    sessionEnding: endings.sessionEnding,
    async log(sessionKey, target, limit, withTools) {
      const child = await control.find(sessionKey, target);
      const lines = await lastMessages(store, child.sessionKey, limit * 4);
      return lines.filter(({ role }) => withTools || role === "user" || role === "assistant").slice(-limit);
    },
    async [Symbol.asyncDispose]() {
      closing.abort();
      onAbort[Symbol.dispose]();
      sweep.close();
      announcer.close();
      await file.close();
    },
  };
}
