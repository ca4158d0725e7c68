/** Runs that clients ask for: how they are accepted, and how they are found again by their id. */
import type { TurnEnd } from "../../agent/index.ts";
import { AppError } from "../../base/errors.ts";
import { failpoint } from "../../base/failpoints.ts";
import { agentOfKey } from "../../protocol/index.ts";
import type { Store, TurnRow, Write } from "../../store/index.ts";
import type { AcceptedRun, Responder, RunOutcome, RunRequest } from "../contract.ts";
import { clientMessage, requestOf, RUNS, type ClientRequest, type Inbound } from "../inbound.ts";
import { whileWanted, type OpenItems } from "../items.ts";
import type { ConversationDeps } from "../ports.ts";
import type { Backlog } from "./backlog.ts";
import { outcomeOf, STOPPING } from "./turn.ts";

export interface ClientRuns extends Pick<Responder, "accept" | "outcome"> {
  /** Nothing is taken any more; resolves when what was being taken is on disk. */
  close(): Promise<void>;
  /** Runs that are being accepted, by their ids. */
  readonly accepting: ReadonlyMap<string, unknown>;
}

type StoreDeps = Pick<ConversationDeps, "store">;

/** Runs that may wait or run in one session, and messages in all. */
const MAX_PER_SESSION = 100;
const MAX_OPEN = 5000;

/** Refuses before anything is accepted when too much waits. */
function checkCapacity(open: OpenItems, backlog: Backlog, sessionKey: string): void {
  const waiting = open.clientsIn(sessionKey) + backlog.depth(sessionKey);
  const all = open.size + backlog.size;
  if (waiting < MAX_PER_SESSION && all < MAX_OPEN) return;
  throw new AppError("OVERLOADED", `${waiting} messages are waiting in ${sessionKey}, ${all} in total; send it again when one has been answered`, {
    details: { retryAfterMs: 1000 },
  });
}

/** Puts a request on disk. A repeated one is compared with the first: `CONFLICT` when it is a different one. */
async function acceptRun(
  { store }: StoreDeps,
  request: RunRequest,
  agentId: string,
  also: readonly Write[],
): Promise<{ readonly accepted: ClientRequest; readonly duplicate: boolean; readonly isSettled: boolean }> {
  const { runId, sessionKey, message, ...payload } = request;
  const row = { ...RUNS, messageId: runId, kind: payload.kind ?? "message", text: message, payload, sessionKey, agentId };
  const [known] = also.length === 0 ? [] : await store.read("inbox.find", { messageId: runId, ...RUNS });
  const [{ id: inboxId, duplicate }] = await store.commit([["inbox.accept", row], ...(known ? [] : also)]);
  if (!duplicate) {
    failpoint("inbox.committed");
    return { accepted: { ...payload, inboxId, runId, sessionKey, agentId, message }, duplicate, isSettled: false };
  }
  const first = await store.read("inbox.get", { id: inboxId });
  const accepted = first && requestOf(first);
  // Of a message that was blocked nothing is left to compare with.
  const isSame = first?.outcome === "refused" || (first?.text === message && accepted?.systemPrompt === request.systemPrompt);
  if (!accepted || accepted.sessionKey !== sessionKey || !isSame) throw otherRequest(runId);
  return { accepted, duplicate, isSettled: first.state === "settled" };
}

function otherRequest(runId: string): AppError {
  return new AppError("CONFLICT", `idempotency key "${runId}" was used for another message or session; give a new message a new key`, { details: { runId } });
}

/** The turn that answered a run: its own, or the one it was merged into. */
async function turnOfRun(store: Pick<Store, "read">, runId: string): Promise<TurnRow | undefined> {
  const own = await store.read("turns.get", { id: runId });
  if (own) return own;
  const [row] = await store.read("inbox.find", { messageId: runId, ...RUNS });
  return row && row.turnId !== null && row.turnId !== runId ? store.read("turns.get", { id: row.turnId }) : undefined;
}

/** How a run ended, if it has. */
async function endedRun({ store }: StoreDeps, runId: string): Promise<RunOutcome | undefined> {
  const turn = await turnOfRun(store, runId);
  if (turn?.state !== "ended") return undefined;
  const detail = turn.detail as RunOutcome | TurnEnd | null;
  if (!detail) return { status: "error", error: turn.why ?? "it failed" };
  return "texts" in detail ? outcomeOf(detail) : detail;
}

interface ClientRunsDeps {
  readonly deps: ConversationDeps;
  readonly open: OpenItems;
  readonly backlog: Backlog;
  /** Called with each new run. */
  begin(message: Inbound): void;
  /** Resolves when everything that the previous process left has been found. */
  readonly resumed: Promise<void>;
}

export function createClientRuns({ deps, open, backlog, begin, resumed }: ClientRunsDeps): ClientRuns {
  const accepting = new Map<string, Promise<unknown>>();
  const closed = Promise.withResolvers<false>();
  let isClosed = false;

  async function acceptNew(request: RunRequest, also: readonly Write[]): Promise<AcceptedRun> {
    const { runId, sessionKey } = request;
    const { accepted, duplicate, isSettled } = await acceptRun(deps, request, agentOfKey(sessionKey, { defaultAgentId: deps.defaultAgentId() }), also);
    if (!duplicate) begin(clientMessage(accepted, deps.clock.now()));
    const ended = isSettled ? await endedRun(deps, runId) : undefined;
    return { runId, duplicate, ...(ended ? { ended } : {}) };
  }

  /** The end of a run: awaited while the run is in memory or in the back-log, else as it is stored. */
  async function endOf(runId: string, signal: AbortSignal | undefined): Promise<RunOutcome | undefined> {
    const passed = backlog.passed(runId);
    if (passed && !(await whileWanted(runId, passed, signal))) return STOPPING;
    const item = open.get(runId);
    return item ? whileWanted(runId, item.outcome.promise, signal) : endedRun(deps, runId);
  }

  return {
    accepting,
    async accept(request, also = []) {
      const { runId, message, sessionKey } = request;
      if (isClosed) throw new AppError("UNAVAILABLE", "the gateway is stopping; send it again after the restart");
      // A twin that arrives while the first is being written waits for it: the store then knows which came first.
      await accepting.get(runId)?.catch(() => {});
      const known = open.get(runId)?.request;
      if (known) {
        if (known.message !== message || known.sessionKey !== sessionKey) throw otherRequest(runId);
        return { runId, duplicate: true };
      }
      checkCapacity(open, backlog, sessionKey);
      const accepted = acceptNew(request, also);
      accepting.set(runId, accepted);
      return accepted.finally(() => accepting.get(runId) === accepted && accepting.delete(runId));
    },
    async outcome(runId, signal) {
      await accepting.get(runId)?.catch(() => {});
      const outcome = await endOf(runId, signal);
      if (outcome) return outcome;
      const [row] = await deps.store.read("inbox.find", { messageId: runId, ...RUNS });
      if (!row) return undefined;
      // A run that the previous process left is in memory only once it has been resumed; callers may ask earlier.
      const isFound = row.state === "settled" || (await whileWanted(runId, Promise.race([resumed.then(() => true), closed.promise]), signal));
      return isFound ? endOf(runId, signal) : STOPPING;
    },
    async close() {
      isClosed = true;
      closed.resolve(false);
      await Promise.allSettled(accepting.values());
    },
  };
}
