import type { Logger } from "../../base/log/logger.ts";
import type { Clock } from "../../base/clock.ts";
import type { TurnEnd } from "../../agent/index.ts";
import { AppError } from "../../base/errors.ts";
import { failpoint } from "../../base/failpoints.ts";
import type { Ids } from "../../base/ids.ts";
import { sumUsage } from "../../sessions/index.ts";
import type { HookLogEntry } from "../../hooks/index.ts";
import type { InboxRow, Outcome, Store, TurnRow, Write } from "../../store/index.ts";
import type { Decided } from "../intake/decided.ts";
import type { RunOutcome, RunRequest } from "./contract.ts";

/** Run ids are one name space over all clients and sessions, so a repeated one is always found. */
const PLACE = { channel: "gateway", account: "runs", conversation: "runs" } as const;

/** What a run needs besides its message, as the inbox keeps it. */
type StoredRequest = Omit<RunRequest, "runId" | "sessionKey" | "message"> & {
  /** Once commands and plugins have decided about it. */
  readonly decided?: Decided;
};

/** A run that is on disk and has no end yet. */
export interface AcceptedRow extends StoredRequest {
  readonly inboxId: number;
  readonly runId: string;
  readonly sessionKey: string;
  readonly agentId: string;
  readonly message: string;
}

export interface RunLogDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
}

function rowOf(row: InboxRow): AcceptedRow {
  const stored = (row.payload ?? { channel: "webchat" }) as StoredRequest;
  return { ...stored, inboxId: row.id, runId: row.messageId, sessionKey: row.sessionKey!, agentId: row.agentId!, message: row.text };
}

/** Puts a request on disk. A repeated one is compared with the first: `CONFLICT` when it says something else. */
export async function acceptRun(
  deps: RunLogDeps,
  request: RunRequest,
  agentId: string,
): Promise<{ readonly row: AcceptedRow; readonly duplicate: boolean; readonly settled: boolean }> {
  const { store } = deps;
  const { runId, sessionKey, message, ...payload } = request;
  const accepted = await store.write("inbox.accept", {
    ...PLACE,
    messageId: runId,
    kind: payload.kind ?? "message",
    text: message,
    payload,
    sessionKey,
    agentId,
  });
  if (!accepted.duplicate) {
    failpoint("inbox.committed");
    return { row: { ...payload, inboxId: accepted.id, runId, sessionKey, agentId, message }, duplicate: false, settled: false };
  }
  const first = (await store.read("inbox.get", { id: accepted.id }))!;
  const stored = (first.payload ?? {}) as Partial<StoredRequest>;
  // Of a message that was blocked nothing is left to compare with.
  const same = first.outcome === "refused" || (first.text === message && stored.systemPrompt === systemPromptOf(request));
  if (first.sessionKey !== sessionKey || !same) throw otherPayload(runId);
  return { row: rowOf(first), duplicate: true, settled: first.state === "settled" };
}

const systemPromptOf = ({ systemPrompt }: RunRequest): string | undefined => systemPrompt;

/** The run that a row stands for, and the turn that it was in; undefined for one that is no client's. */
export function runOfRow(row: InboxRow): { readonly row: AcceptedRow; readonly turnId: string | null } | undefined {
  const isRun = row.channel === PLACE.channel && row.account === PLACE.account && row.sessionKey !== null;
  return isRun ? { row: rowOf(row), turnId: row.turnId } : undefined;
}

/** Whether a turn that was interrupted has already written its prompt, so that the text of its message is no longer read. */
export async function wasPrompted({ store }: Pick<RunLogDeps, "store">, turnId: string): Promise<boolean> {
  const steps = await store.read("journal.steps", { turnId });
  return steps.some(({ kind, data }) => kind === "model.result" || (kind === "note" && (data as { readonly said?: boolean } | null)?.said === true));
}

/** Ends turns of the process before this one that nobody asked for and nobody waits for. */
export async function closeOrphans({ store }: RunLogDeps, isKnown: (turnId: string) => boolean): Promise<void> {
  for (const { id } of await store.read("turns.unfinished", {})) {
    if (!isKnown(id)) await store.write("turns.end", { id, outcome: "cancelled", why: "the process ended" });
  }
}

/** A turn that ends without the agent. */
export interface ClosedTurn {
  readonly runId: string;
  readonly sessionKey: string;
  readonly agentId: string;
  readonly inboxIds: readonly number[];
  readonly outcome: Outcome;
  readonly why: string;
  readonly result: RunOutcome;
  /** Committed with it: what is sent. */
  readonly writes?: readonly Write[];
  /** What plugins said. */
  readonly hooks?: readonly HookLogEntry[];
}

/** The end of a turn that the agent did not bring about, in one commit. */
export async function closeTurn({ store }: Pick<RunLogDeps, "store">, closed: ClosedTurn): Promise<void> {
  const { runId, sessionKey, agentId, inboxIds, outcome, why, result, writes = [], hooks = [] } = closed;
  const turn = await store.read("turns.get", { id: runId });
  const start: Write[] = turn ? [] : [["turns.start", { id: runId, sessionKey, agentId }]];
  const said: Write[] = hooks.length === 0 ? [] : [["journal.append", { turnId: runId, kind: "note", data: { hooks } }]];
  await store.commit([
    ...start,
    ...said,
    ["inbox.settle", { ids: inboxIds, outcome, why, turnId: runId }],
    ["turns.note", { id: runId, detail: result }],
    ["turns.end", { id: runId, outcome, why }],
    ...writes,
  ]);
}

/** The turn that answered a run: its own, or the one it was merged into. */
async function turnOfRun({ store }: Pick<RunLogDeps, "store">, runId: string): Promise<TurnRow | undefined> {
  const own = await store.read("turns.get", { id: runId });
  if (own) return own;
  const [row] = await store.read("inbox.find", { messageId: runId, ...PLACE });
  return row && row.turnId !== null && row.turnId !== runId ? store.read("turns.get", { id: row.turnId }) : undefined;
}

/** How a run ended, if it has. */
export async function endedRun(deps: RunLogDeps, runId: string): Promise<RunOutcome | undefined> {
  const turn = await turnOfRun(deps, runId);
  if (turn?.state !== "ended") return undefined;
  const detail = turn.detail as RunOutcome | TurnEnd | null;
  if (!detail) return { status: "error", error: turn.why ?? "it failed" };
  return "texts" in detail ? outcomeOf(detail) : detail;
}

/** The end of a turn as the gateway tells it. */
export function outcomeOf(end: TurnEnd): RunOutcome {
  if (end.status === "failed") return { status: "error", error: end.error ?? "the model failed", ...(end.failure ? { failure: end.failure } : {}) };
  const { sessionId, startedAt, endedAt, provider, model, stopReason, calls, usage, shown } = end;
  // Of an answer that plugins kept back nothing is shown, as of one that is silent by itself.
  const silent = end.silent === true || shown === "";
  const last = usage.at(-1);
  const status =
    end.status === "aborted" ? { status: "aborted" as const, ...(end.abortedBy === undefined ? {} : { abortedBy: end.abortedBy }) } : { status: "ok" as const };
  return {
    ...status,
    text: end.silent ? "NO_REPLY" : (shown ?? end.text),
    sessionId,
    durationMs: endedAt - startedAt,
    ...(provider === undefined ? {} : { provider }),
    ...(model === undefined ? {} : { model }),
    ...(last ? { usage: sumUsage(usage), lastCallUsage: sumUsage([last]) } : {}),
    ...(stopReason === undefined ? {} : { stopReason }),
    ...(calls === undefined ? {} : { calls }),
    ...(silent ? { silent } : {}),
  };
}

/** A turn that failed or ran out of time gets a log line, for clients and channels alike. */
export function logOutcome(log: Logger, { runId, sessionKey }: { readonly runId: string; readonly sessionKey: string }, outcome: RunOutcome): void {
  if (outcome.status === "error") {
    const { error, failure } = outcome;
    log.warn(`a turn failed: ${error}`, { runId, sessionKey, ...(failure ? { failure: failure.kind } : {}) });
  } else if (outcome.status === "aborted" && outcome.abortedBy === "timeout") log.warn("a turn took longer than it may and was stopped", { runId, sessionKey });
}

export function otherPayload(runId: string): AppError {
  return new AppError("CONFLICT", `idempotency key "${runId}" was used for another message or session; give a new message a new key`, { details: { runId } });
}
