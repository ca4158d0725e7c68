/** Runs one beat, or says why it does nothing. */
import type { Clock } from "../../base/clock.ts";
import { AppError } from "../../base/errors.ts";
import { failpoint } from "../../base/failpoints.ts";
import { isRecord } from "../../base/records.ts";
import type { Config } from "../../config/index.ts";
import { acceptedRequest, type Responder, type RunRequest } from "../../conversation/index.ts";
import type { Store, Write } from "../../store/index.ts";
import { beatSession, eventOf, isTimed, requestOf, skipOf, targetOf, wakingLine, type Beat, type BeatFacts, type HeartbeatEvent } from "./beat.ts";
import { fingerprint, readHeartbeatFile } from "./heartbeat-file.ts";

export interface BeatDeps {
  readonly config: Pick<Config, "current">;
  readonly store: Pick<Store, "read" | "write" | "commit">;
  readonly clock: Clock;
  readonly runs: Pick<Responder, "accept" | "outcome">;
  /** Whether a turn runs or waits in a session. */
  readonly isBusy: (sessionKey: string) => boolean;
  readonly workspace: (agentId: string) => string;
  /** Why a chat cannot be sent anything now, as its channel says; undefined when it can. */
  readonly notReady: (channel: string, accountId: string) => Promise<string | undefined>;
  readonly emit: (event: HeartbeatEvent) => void;
  /** Heartbeats were turned off until the next start. */
  readonly isPaused: () => boolean;
  /** Whether the agent has seen by itself what a line is about. */
  readonly isSeen: (ref: string) => boolean;
  /** The lines of these have been dealt with. */
  readonly done: (refs: readonly string[]) => void;
}

const LAST = "heartbeat.last";
/** Rows of beats whose end is not reported yet. */
const OPEN_BEATS = "heartbeat";
/** How HEARTBEAT.md and what it watches stood when all was well, and when the agent was last asked about them. */
const stateKey = (agentId: string): string => `heartbeat.ok:${agentId}`;
const askedKey = (agentId: string): string => `heartbeat.asked:${agentId}`;

export const lastHeartbeat = async (store: Pick<Store, "read">): Promise<HeartbeatEvent | null> =>
  // Written below, and nowhere else.
  ((await store.read("meta.get", { key: LAST })) as HeartbeatEvent | null | undefined) ?? null;

async function factsOf(deps: BeatDeps, beat: Beat): Promise<BeatFacts & { readonly standing: string | undefined }> {
  const { config, store, clock } = deps;
  const { agentId, sessionKey } = beat;
  const now = clock.now();
  const workspace = deps.workspace(agentId);
  const [row, waiting, file] = await Promise.all([
    store.read("sessions.get", { key: sessionKey }),
    store.read("injections.waiting", { sessionKey, now }),
    readHeartbeatFile(workspace),
  ]);
  const lines = waiting.flatMap((line) => wakingLine(line, beat) ?? []);
  const pending = lines.filter(({ ref }) => ref === undefined || !deps.isSeen(ref)).map(({ source }) => source);
  const refs = lines.flatMap(({ ref }) => ref ?? []);
  // Only beats at regular times ask about the file.
  const standing = isTimed(beat) && file.state === "filled" ? await fingerprint(workspace, file.watched ?? []) : undefined;
  const [wasWell, wasAsked] =
    standing === undefined ? [] : await Promise.all([store.read("meta.get", { key: stateKey(agentId) }), store.read("meta.get", { key: askedKey(agentId) })]);
  const isUnchanged = file.watched !== undefined && standing !== undefined && standing === wasWell;
  const isEdited = standing !== undefined && wasAsked !== undefined && standing !== wasAsked;
  const isBusy = deps.isBusy(sessionKey);
  return { config: config.current, now, entry: row?.entry, pending, refs, file, standing, isUnchanged, isEdited, isBusy, isPaused: deps.isPaused() };
}

async function report({ store, emit }: BeatDeps, event: HeartbeatEvent): Promise<void> {
  await store.write("meta.set", { key: LAST, value: event });
  emit(event);
}

/** Why the chat cannot be reached. */
async function unready(deps: BeatDeps, beat: Beat, { entry }: BeatFacts): Promise<string | undefined> {
  const target = targetOf(beat, entry, deps.config.current);
  return target === undefined || target === "none" ? undefined : deps.notReady(target.channel, target.accountId);
}

/** What following a beat to its end needs: it is on disk as long as the beat has not been reported. */
interface Begun {
  readonly agentId: string;
  readonly startedAt: number;
  /** How the files stood that it asks about. */
  readonly standing?: string | undefined;
}

function begunOf(value: unknown): Begun | undefined {
  const { agentId, startedAt, standing } = isRecord(value) ? value : {};
  if (typeof agentId !== "string" || typeof startedAt !== "number") return undefined;
  return { agentId, startedAt, ...(typeof standing === "string" ? { standing } : {}) };
}

/** False when too much waits at the moment. */
async function accept({ runs }: BeatDeps, request: RunRequest, about: Begun): Promise<boolean> {
  const { runId } = request;
  try {
    await runs.accept(request, [["idempotency.begin", { scope: OPEN_BEATS, key: runId, payloadHash: runId, about }]]);
    return true;
  } catch (error) {
    if (error instanceof AppError && error.code === "OVERLOADED") return false;
    throw error;
  }
}

function standingWrites(agentId: string, standing: string | undefined, { status }: HeartbeatEvent): readonly Write[] {
  if (standing === undefined || status === "failed") return [];
  const asked: Write = ["meta.set", { key: askedKey(agentId), value: standing }];
  return status.startsWith("ok") ? [asked, ["meta.set", { key: stateKey(agentId), value: standing }]] : [asked];
}

/** Waits for the end of a beat, and reports it. */
async function follow({ runs, config, clock, store, emit }: BeatDeps, request: RunRequest, { agentId, startedAt, standing }: Begun): Promise<void> {
  const outcome = await runs.outcome(request.runId);
  // The gateway stops: the run continues after the restart.
  if (outcome?.status === "error" && outcome.failure?.kind === "restarting") return;
  const ts = clock.now();
  const event = eventOf(outcome, request, config.current, { ts, durationMs: Math.max(0, ts - startedAt) });
  await store.commit([
    ["meta.set", { key: LAST, value: event }],
    ...standingWrites(agentId, standing, event),
    ["idempotency.complete", { scope: OPEN_BEATS, key: request.runId, result: { status: event.status } }],
  ]);
  failpoint("heartbeat.reported");
  emit(event);
}

/** Reports a beat that the previous process began. */
export async function resumeBeat(deps: BeatDeps, runId: string, about: unknown): Promise<void> {
  const request = await acceptedRequest(deps.store, runId);
  const begun = begunOf(about);
  if (request && begun) await follow(deps, request, begun);
  else await deps.store.write("idempotency.abandon", { scope: OPEN_BEATS, key: runId });
}

/** When a beat that did not run is tried again: soon, when the agent may be woken again, or not at all. */
export type Tried = "over" | "soon" | "active-hours";

/** Resolves when the beat is over, or has to be tried again. */
export async function runBeat(deps: BeatDeps, beat: Beat): Promise<Tried> {
  const { clock } = deps;
  const facts = await factsOf(deps, beat);
  const why = skipOf(beat, facts) ?? (await unready(deps, beat, facts));
  if (why === "requests-in-flight") return "soon";
  if (why === "nothing-pending") deps.done(facts.refs);
  // Nobody waits for what is off, or was dealt with by another turn.
  if (why === "disabled" || why === "nothing-pending") return "over";
  if (why !== undefined) {
    await report(deps, { ts: facts.now, status: "skipped", reason: why, durationMs: Math.max(0, clock.now() - facts.now) });
    return why === "quiet-hours" && !isTimed(beat) && facts.pending.length > 0 ? "active-hours" : "over";
  }
  // Beats of several sessions may come in the same millisecond.
  const isOwn = beat.sessionKey === beatSession(deps.config.current, beat.agentId);
  const request = requestOf(beat, isOwn ? String(facts.now) : `${facts.now}:${beat.sessionKey}`, facts);
  const begun: Begun = { agentId: beat.agentId, startedAt: facts.now, standing: facts.standing };
  failpoint("heartbeat.due");
  if (!(await accept(deps, request, begun))) return "soon";
  failpoint("heartbeat.accepted");
  deps.done(facts.refs);
  await follow(deps, request, begun);
  return "over";
}
