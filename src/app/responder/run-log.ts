import type { Clock } from "../../base/clock.ts";
import { AppError } from "../../base/errors.ts";
import { failpoint } from "../../base/failpoints.ts";
import type { Ids } from "../../base/ids.ts";
import type { RunOutcome, RunRequest } from "../../gateway/index.ts";
import { transcriptFile, type InboxRow, type Store, type Write } from "../../store/index.ts";
import { headerLine, turnEntries, type FinishedTurn } from "./entries.ts";

/** Run ids are one name space over all clients and sessions, so a repeated one is always found. */
const PLACE = { channel: "gateway", account: "runs", conversation: "runs" } as const;
/** A turn that died this often is ended instead of taken up again. */
const MAX_RESUMPTIONS = 3;
/** How often a commit is tried again when somebody else wrote to the session in between. */
const MAX_RETRIES = 5;

/** A run that is on disk and has no end yet. */
export interface AcceptedRow {
  readonly inboxId: number;
  readonly runId: string;
  readonly sessionKey: string;
  readonly agentId: string;
  readonly message: string;
  readonly channel: string;
  readonly systemPrompt?: string;
  readonly timeoutMs?: number;
}

/** Fields of a session's entry; null takes one away. */
export type SessionPatch = Readonly<Record<string, unknown>>;

/** The session that a turn writes to. */
export interface TurnPlace {
  readonly sessionId: string;
  readonly file: string;
}

interface StoredRequest {
  readonly channel: string;
  readonly systemPrompt?: string;
  readonly timeoutMs?: number;
}

export interface RunLogDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
}

function rowOf(row: InboxRow): AcceptedRow {
  const { channel, systemPrompt, timeoutMs } = (row.payload ?? { channel: "webchat" }) as StoredRequest;
  return {
    inboxId: row.id,
    runId: row.messageId,
    sessionKey: row.sessionKey!,
    agentId: row.agentId!,
    message: row.text,
    channel,
    ...(systemPrompt === undefined ? {} : { systemPrompt }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  };
}

/** Puts a request on disk. A repeated one is compared with the first: `CONFLICT` when it says something else. */
export async function acceptRun(
  deps: RunLogDeps,
  request: RunRequest,
  agentId: string,
): Promise<{ readonly row: AcceptedRow; readonly duplicate: boolean; readonly settled: boolean }> {
  const { store } = deps;
  const { runId, sessionKey, message, channel, systemPrompt, timeoutMs } = request;
  const payload: StoredRequest = {
    channel,
    ...(systemPrompt === undefined ? {} : { systemPrompt }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  };
  const accepted = await store.write("inbox.accept", { ...PLACE, messageId: runId, kind: "message", text: message, payload, sessionKey, agentId });
  if (!accepted.duplicate) {
    failpoint("inbox.committed");
    return { row: { inboxId: accepted.id, runId, sessionKey, agentId, message, ...payload }, duplicate: false, settled: false };
  }
  const first = (await store.read("inbox.get", { id: accepted.id }))!;
  const stored = (first.payload ?? {}) as Partial<StoredRequest>;
  if (first.text !== message || first.sessionKey !== sessionKey || stored.systemPrompt !== systemPrompt) throw otherPayload(runId);
  return { row: rowOf(first), duplicate: true, settled: first.state === "settled" };
}

/** Runs without an end, in the order of their arrival. */
export async function unfinishedRuns(deps: RunLogDeps): Promise<readonly AcceptedRow[]> {
  const rows = await deps.store.read("inbox.open", {});
  return rows.filter((row) => row.channel === PLACE.channel && row.account === PLACE.account && row.sessionKey !== null).map(rowOf);
}

/** True when the commit was refused because of what somebody else wrote, as the named detail shows. */
function overtaken(error: unknown, detail: "key" | "leaf"): boolean {
  return error instanceof AppError && error.code === "CONFLICT" && detail in error.details;
}

/** Begins the turn, or takes it up again; makes the session when it is not there. Undefined: it died too often. */
export async function beginTurn(deps: RunLogDeps, run: AcceptedRow): Promise<TurnPlace | undefined> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await tryToBegin(deps, run);
    } catch (error) {
      // The session was changed, or reset, since it was read: the turn belongs to the one that is there now.
      if (!overtaken(error, "key") || attempt === MAX_RETRIES) throw error;
    }
  }
}

async function tryToBegin(deps: RunLogDeps, run: AcceptedRow): Promise<TurnPlace | undefined> {
  const { store, clock, ids } = deps;
  const { agentId, sessionKey: key } = run;
  const [session, turn] = await Promise.all([store.read("sessions.get", { key }), store.read("turns.get", { id: run.runId })]);
  if (turn && turn.resumptions >= MAX_RESUMPTIONS) return undefined;
  const sessionId = session?.entry.sessionId ?? ids.uuid();
  const known = await store.read("transcripts.ofSession", { agentId, sessionId });
  const file = known.find((row) => row.archivedAt === null)?.file ?? transcriptFile(agentId, sessionId);
  const now = clock.now();
  const writes: Write[] = [
    turn ? ["turns.resume", { id: run.runId }] : ["turns.start", { id: run.runId, sessionKey: key, agentId }],
    ["inbox.claim", { ids: [run.inboxId], turnId: run.runId }],
    ["transcripts.ensure", { file, agentId, sessionId, header: headerLine(sessionId, now) }],
  ];
  const entry = { sessionId, updatedAt: now, chatType: "direct", channel: run.channel, lastChannel: run.channel, systemSent: false };
  writes.push(
    session
      ? ["sessions.patch", { key, patch: { lastChannel: run.channel }, version: session.version }]
      : ["sessions.put", { key, agentId, entry, version: 0 }],
  );
  await store.commit(writes);
  failpoint("turn.started");
  return { sessionId, file };
}

/** The end of a turn in one commit: what was said and answered, the input's outcome, the session's fields. */
export async function finishTurn(deps: RunLogDeps, run: AcceptedRow, place: TurnPlace, turn: FinishedTurn, result: RunOutcome): Promise<void> {
  const { store, ids } = deps;
  const { status, error, patch, usage } = turn.end;
  const outcome = ({ ok: "answered", aborted: "cancelled", failed: "failed" } as const)[status];
  const why = status === "aborted" ? `aborted (${turn.origin ?? "rpc"})` : error;
  for (let attempt = 0; ; attempt += 1) {
    const transcript = await store.read("transcripts.get", { file: place.file });
    const leaf = transcript?.leafId ?? null;
    try {
      await store.commit([
        ["transcripts.append", { file: place.file, entries: turnEntries(turn, leaf, ids), expectLeaf: leaf }],
        ["inbox.settle", { ids: [run.inboxId], outcome, why, turnId: run.runId }],
        [
          "sessions.patch",
          {
            key: run.sessionKey,
            patch: { updatedAt: turn.endedAt, systemSent: true, abortedLastRun: status === "aborted", lastChannel: run.channel, ...patch },
          },
        ],
        ["turns.note", { id: run.runId, detail: result }],
        ["turns.end", { id: run.runId, outcome, why }],
        ...(usage ? ([["usage.add", usage]] satisfies Write[]) : []),
      ]);
      return;
    } catch (error) {
      // Somebody else appended in between: hang this turn below that entry.
      if (!overtaken(error, "leaf") || attempt === MAX_RETRIES) throw error;
    }
  }
}

/** The end of a run that has no answer. */
export async function closeRun(deps: RunLogDeps, run: AcceptedRow, outcome: "cancelled" | "failed", why: string, result: RunOutcome): Promise<void> {
  const { store } = deps;
  const turn = await store.read("turns.get", { id: run.runId });
  const start: Write[] = turn ? [] : [["turns.start", { id: run.runId, sessionKey: run.sessionKey, agentId: run.agentId }]];
  await store.commit([
    ...start,
    ["inbox.settle", { ids: [run.inboxId], outcome, why, turnId: run.runId }],
    ["turns.note", { id: run.runId, detail: result }],
    ["turns.end", { id: run.runId, outcome, why }],
  ]);
}

/** How a run ended, if it has. */
export async function endedRun(deps: RunLogDeps, runId: string): Promise<RunOutcome | undefined> {
  const turn = await deps.store.read("turns.get", { id: runId });
  return turn?.state === "ended" ? ((turn.detail as RunOutcome | null) ?? { status: "error", error: turn.why ?? "it failed" }) : undefined;
}

export function otherPayload(runId: string): AppError {
  return new AppError("CONFLICT", `idempotency key "${runId}" was used for another message or session; give a new message a new key`, { details: { runId } });
}
