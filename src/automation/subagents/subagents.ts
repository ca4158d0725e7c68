/**
 * Children that an agent starts. A child is one row: the commit that adds it reserves its place inside the limits and puts its run into the inbox, the commit
 * that ends its turn records how it ended, and the one that reports it marks it as announced. A process that dies leaves rows: the next one goes on with them.
 */
import { messageOf } from "../../base/errors.ts";
import type { RunOutcome } from "../../conversation/index.ts";
import type { EventPayload } from "../../protocol/index.ts";
import type { SubagentRow } from "../../store/index.ts";
import { createAnnouncer } from "./announce.ts";
import { childOf, isActive, type Child, type SubagentsDeps } from "./child.ts";
import { confirmStopped, createControl, type Control } from "./control.ts";
import { createOverviews, type Overviews } from "./overview.ts";
import { lastMessages, type ShownLine } from "./result.ts";
import { createRunsFile, type RunsFile } from "./runs-file.ts";
import { readChild, spawnChild, type SpawnRequest, type SpawnResult } from "./spawn.ts";

export interface Subagents extends Control, Overviews, AsyncDisposable {
  /** Resumes what the previous process left. */
  start(): Promise<void>;
  spawn(request: SpawnRequest): Promise<SpawnResult>;
  /** The last messages of a child's session, oldest first. */
  log(sessionKey: string, target: string, limit: number, withTools: boolean): Promise<readonly ShownLine[]>;
}

const OUTCOMES = ["ok", "error", "timeout", "killed"] as const;
const SWEEP_MS = 60_000;
const REPORTED_MS = 24 * 60 * 60_000;
const ARCHIVE_MINUTES = 60;

/** How a run ended, for a child whose row does not have it. */
function endOf(outcome: RunOutcome | undefined): { readonly outcome: "ok" | "error" | "timeout"; readonly error?: string } {
  if (!outcome) return { outcome: "error", error: "the run was lost: the process that carried it out has ended" };
  if (outcome.status === "error") return { outcome: "error", error: outcome.error };
  if (outcome.status === "ok") return { outcome: "ok" };
  return outcome.abortedBy === "timeout" ? { outcome: "timeout" } : { outcome: "error", error: `aborted (${outcome.abortedBy ?? "rpc"})` };
}

const isLeft = (outcome: RunOutcome | undefined): boolean => outcome?.status === "error" && outcome.failure?.kind === "restarting";

/** Plugins are notified; nothing waits for them. */
function notifyEnded(deps: SubagentsDeps, { runId, childSessionKey, requesterSessionKey, outcome, endedAt, data }: Child): void {
  const hooks = deps.hooks();
  const context = { runId, childSessionKey, requesterSessionKey };
  const how = OUTCOMES.find((one) => one === outcome);
  const { accountId } = data.requesterOrigin;
  const { error } = data;
  if (hooks?.has("subagent_ended")) {
    const event = {
      targetSessionKey: childSessionKey,
      targetKind: "subagent" as const,
      reason: how === "killed" ? "killed" : "completed",
      ...(how === undefined ? {} : { outcome: how }),
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
        .catch((error: unknown) => log.warn(`the sessions of sub-agents could not be put away: ${messageOf(error)}`, { error }))
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

export function createSubagents(deps: SubagentsDeps): Subagents {
  const { store, log, config } = deps;
  const file = createRunsFile(deps);
  const changed = changesOf(deps, file);
  const delivered = (children: readonly Child[]): void => {
    file.changed();
    void cleanUp(deps, children).then(() => children.forEach((child) => changed("reported", child)));
  };
  const announcer = createAnnouncer(deps, delivered);
  const replaced = new Set<string>();
  const sweep = createSweep(deps, (row) => changed("removed", row));
  let isClosed = false;

  /** Waits for the end of a child's run, and has it reported. */
  async function untilEnded(runId: string): Promise<void> {
    const outcome = await deps.conversation().outcome(runId);
    if (isClosed || isLeft(outcome)) return;
    const archiveMs = (config.current.agents?.defaults?.subagents?.archiveAfterMinutes ?? ARCHIVE_MINUTES) * 60_000;
    let child = await readChild(deps, runId);
    if (child && isActive(child)) {
      // Its turn ended without it, or another program left it; what that left long ago nobody waits for.
      await store.write("subagents.end", { runId, ...endOf(outcome), archiveMs });
      if (!outcome && child.createdAt < deps.clock.now() - REPORTED_MS) await store.write("subagents.announced", { runIds: [runId] });
      child = await readChild(deps, runId);
    }
    if (!child || child.outcome === "killed") return;
    ended(child);
    sweep.arm();
    announcer.ready(child);
  }

  function follow(runId: string): void {
    untilEnded(runId).catch((error: unknown) => {
      if (!isClosed) log.error(`the end of a sub-agent could not be recorded: ${messageOf(error)}`, { runId, error });
    });
  }

  function ended(child: Child): void {
    changed("ended", child);
    notifyEnded(deps, child);
  }

  const control = createControl({ ...deps, announcer, follow, steered: (child) => changed("steered", child), replaced, delivered, ended });

  const onAbort = deps.conversation().onAbort(({ sessionKey, runId }, reason) => {
    // A stop by a command ends them itself, and says how many there were.
    if (reason === "stop" || (runId !== undefined && replaced.has(runId))) return;
    control.killBelow(sessionKey, runId).catch((error: unknown) => log.error(`sub-agents could not be stopped: ${messageOf(error)}`, { sessionKey, error }));
  });

  return {
    ...control,
    ...createOverviews(deps, control),
    async start() {
      const { open, archiveAt } = await store.read("subagents.pending", {});
      if (archiveAt !== null) sweep.arm();
      if (open === 0) return;
      const left = [
        ...(await store.read("subagents.list", { unfinished: true })),
        ...(await store.read("subagents.list", { unfinished: false, unannounced: true })),
      ];
      log.info(`${left.length} sub-agents of the previous process go on or are reported`);
      for (const child of left.map(childOf)) {
        if (isActive(child)) follow(child.runId);
        else if (child.outcome === "killed") await confirmStopped(deps, [child]);
        else announcer.ready(child);
      }
    },
    spawn: (request) =>
      spawnChild(deps, request, (child) => {
        changed("spawned", child);
        progress(deps, "started", child);
        follow(child.runId);
      }),
    async log(sessionKey, target, limit, withTools) {
      const child = await control.find(sessionKey, target);
      const lines = await lastMessages(store, child.sessionKey, limit * 4);
      return lines.filter(({ role }) => withTools || role === "user" || role === "assistant").slice(-limit);
    },
    async [Symbol.asyncDispose]() {
      isClosed = true;
      onAbort[Symbol.dispose]();
      sweep.close();
      announcer.close();
      await file.close();
    },
  };
}
