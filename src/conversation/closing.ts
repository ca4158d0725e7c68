/** How turns end: with the agent's answer, or without one. */
import type { TurnEnd, TurnInput } from "../agent/index.ts";
import type { OpenClawConfig } from "../config/index.ts";
import type { HookLogEntry } from "../hooks/index.ts";
import type { UserMessage } from "../protocol/index.ts";
import { gatewayMessage, headerLine, messageEntry } from "../sessions/index.ts";
import { transcriptFile, type Outcome, type Write } from "../store/index.ts";
import type { RunOutcome } from "./contract.ts";
import { ORIGINS, type Item, type Turn } from "./items.ts";
import type { ConversationContext, ConversationDeps } from "./ports.ts";

type ClosingDeps = Pick<ConversationDeps, "store" | "ids" | "clock" | "config">;

const ARCHIVE_MINUTES = 60;

/** The session of a finished sub-agent is archived after this. */
export const archiveAfterMs = ({ agents }: OpenClawConfig): number => (agents?.defaults?.subagents?.archiveAfterMinutes ?? ARCHIVE_MINUTES) * 60_000;

type Message = ReturnType<typeof gatewayMessage> & { readonly errorMessage?: string };

/** What the user wrote, where no turn got as far as storing it. */
type Unsaid = Pick<TurnInput, "message" | "images">;

interface End {
  readonly outcome: Outcome;
  readonly why: string;
  readonly result: RunOutcome;
  /** Committed with it: what is sent. */
  readonly writes: readonly Write[];
  /** What plugins answered. */
  readonly hooks?: readonly HookLogEntry[];
}

/** Messages of a channel that end before their turn leave no turn behind; a client's run always does, so that it is found by its id. */
const hasRun = ({ isBegun, main }: Turn): boolean => isBegun || main.request !== undefined;

/** The runs whose end is announced: of a channel's items only the turn itself has an id that others know. */
export const runsOf = ({ main }: Turn): readonly Item[] => (main.request ? [...main.merged, main] : [main]);

/** The terminal record of a sub-agent's run, for the commit that ends its turn. */
export function childEnd(
  { id, request }: Item,
  end: Pick<TurnEnd, "status" | "abortedBy" | "error"> & { readonly startedAt?: number },
  config: OpenClawConfig,
): readonly Write[] {
  if (request?.kind !== "subagent") return [];
  const { status, abortedBy = "rpc", error, startedAt } = end;
  const archiveMs = archiveAfterMs(config);
  const how =
    status === "ok"
      ? { outcome: "ok" as const }
      : status === "aborted" && abortedBy === ORIGINS.timeout
        ? { outcome: "timeout" as const }
        : { outcome: "error" as const, error: error ?? (status === "aborted" ? `aborted (${abortedBy})` : status) };
  return [["subagents.end", { runId: id, ...how, startedAt, archiveMs, unlessWaiting: status === "ok" }]];
}

/** The end of a turn in one commit. */
export async function commitEnd(
  { store, config }: Pick<ClosingDeps, "store" | "config">,
  turn: Turn,
  { outcome, why, result, writes, hooks = [] }: End,
): Promise<void> {
  const { id, sessionKey, agentId } = turn.main;
  const ids = turn.inputs;
  if (!hasRun(turn)) return void (await store.commit([["inbox.settle", { ids, outcome, why, hooks }], ...writes]));
  const known = await store.read("turns.get", { id });
  const start: Write[] = known ? [] : [["turns.start", { id, sessionKey, agentId }]];
  const answers: Write[] = hooks.length === 0 ? [] : [["journal.append", { turnId: id, kind: "note", data: { hooks } }]];
  await store.commit([
    ...start,
    ...answers,
    ["inbox.settle", { ids, outcome, why, turnId: id }],
    ["turns.note", { id, detail: result }],
    ["turns.end", { id, outcome, why }],
    ...(known && outcome !== "answered" ? ([["injections.release", { sessionKey, turnId: id }]] as const) : []),
    ...childEnd(turn.main, result.status === "error" ? { status: "failed", error: result.error } : result, config.current),
    ...writes,
  ]);
}

/** `commitEnd` with a message of the gateway in the transcript. That may have grown in between: then the turn ends without the message. */
export async function commitEndWithNote(deps: ClosingDeps, turn: Turn, end: End, messageAt: (at: number) => Message, unsaid?: Unsaid): Promise<void> {
  const note = await noteWrites(deps, turn.main, messageAt, unsaid);
  await commitEnd(deps, turn, { ...end, writes: [...end.writes, ...note] }).catch(() => commitEnd(deps, turn, end));
}

const userMessage = ({ message, images = [] }: Unsaid, timestamp: number): UserMessage => ({
  role: "user",
  content: [{ type: "text", text: message }, ...images],
  timestamp,
});

/** A message of the gateway as the newest entry of a session's transcript. Nothing where there is no session. */
export async function noteWrites(
  { store, ids, clock }: Omit<ClosingDeps, "config">,
  { sessionKey, agentId }: Pick<Item, "sessionKey" | "agentId">,
  messageAt: (at: number) => Message,
  unsaid?: Unsaid,
): Promise<readonly Write[]> {
  const session = await store.read("sessions.get", { key: sessionKey });
  if (!session) return [];
  const { sessionId } = session.entry;
  const file = transcriptFile(agentId, sessionId);
  const at = clock.now();
  const parentId = (await store.read("transcripts.get", { file }))?.leafId ?? null;
  const first = unsaid && messageEntry({ ids, parentId, at }, userMessage(unsaid, at));
  const entry = messageEntry({ ids, parentId: first?.id ?? parentId, at }, messageAt(at));
  return [
    ["transcripts.ensure", { file, agentId, sessionId, header: headerLine({ sessionId, at, cwd: "" }) }],
    ["transcripts.append", { file, entries: first ? [first, entry] : [entry], expectLeaf: parentId }],
  ];
}

/** A text as the newest message of a session: people see it there as the agent's, and so does the agent. Undefined where there is no session. */
export async function sessionMessage(
  deps: Omit<ClosingDeps, "config">,
  to: Pick<Item, "sessionKey" | "agentId">,
  text: string,
): Promise<readonly Write[] | undefined> {
  const writes = await noteWrites(deps, to, (at) => gatewayMessage("gateway-injected", text, at));
  return writes.length === 0 ? undefined : writes;
}

/** An answer with nothing in it and the reason: people are shown it, and models skip answers that failed. */
function failureNote(runId: string, result: Exclude<RunOutcome, { status: "ok" }>, at: number): Message {
  if (result.status === "aborted") {
    const abort = { runId, origin: result.abortedBy ?? "rpc" };
    return { ...gatewayMessage("gateway-injected", "", at, { abort }), errorMessage: "cancelled before it was answered" };
  }
  return { ...gatewayMessage("gateway-injected", "", at), idempotencyKey: `${runId}:assistant`, stopReason: "error", errorMessage: result.error };
}

export interface Closing {
  readonly why: string;
  readonly result: Exclude<RunOutcome, { status: "ok" }>;
  /** The text for a chat. Clients see the outcome. */
  readonly notice?: string;
  readonly unsaid?: Unsaid | undefined;
}

/** Ends a turn that gets no answer, on disk first, and notifies its listeners. */
export async function closeUnanswered(turn: Turn, { why, result, notice, unsaid }: Closing, context: ConversationContext): Promise<RunOutcome> {
  const { deps, emit } = context;
  const { main } = turn;
  const writes = notice === undefined ? [] : await main.listener.failureNotice(turn, notice, context);
  const end = { outcome: result.status === "aborted" ? "cancelled" : "failed", why, result, writes } as const;
  if (!hasRun(turn)) await commitEnd(deps, turn, { ...end, hooks: main.hooks });
  else await commitEndWithNote(deps, turn, end, (at) => failureNote(main.id, result, at), unsaid);
  if (writes.length > 0) deps.delivery.kick();
  if (!hasRun(turn)) return result;
  const endedAt = deps.clock.now();
  const reason = main.reason === undefined ? {} : { reason: main.reason };
  for (const { id: runId, sessionKey } of runsOf(turn)) {
    const run = { runId, sessionKey };
    if (result.status === "error") emit(run, { stream: "lifecycle", data: { phase: "error", error: result.error, endedAt } });
    else emit(run, { stream: "lifecycle", data: { phase: "end", endedAt, aborted: true, ...reason } });
  }
  return result;
}

/** How something ends that was aborted before it was answered. `why` is for messages of channels. */
export function aborted({ request, reason = "rpc" }: Item, why: string): Closing {
  const abortedBy = ORIGINS[reason];
  const result = { status: "aborted", abortedBy, text: "", sessionId: "", durationMs: 0 } as const;
  return { why: request ? `aborted (${abortedBy})` : why, result };
}

export const failed = (why: string, notice?: string): Closing => ({
  why,
  result: { status: "error", error: why },
  ...(notice === undefined ? {} : { notice }),
});

/** Reports the end of a turn to everyone whose message it answered. Those merged into it did not see the answer while it was written: they get it whole. */
export function emitEnd(turn: Turn, end: TurnEnd, outcome: RunOutcome, shown: string | undefined, emit: ConversationContext["emit"]): void {
  const { main } = turn;
  const { startedAt, endedAt } = end;
  for (const item of runsOf(turn)) {
    const run = { runId: item.id, sessionKey: item.sessionKey };
    if (outcome.status === "error") emit(run, { stream: "lifecycle", data: { phase: "error", error: outcome.error, startedAt, endedAt } });
    else {
      const aborted = outcome.status === "aborted" ? { aborted: true, ...(main.reason === undefined ? {} : { reason: main.reason }) } : {};
      const whole = item === main || outcome.status !== "ok" ? shown : (shown ?? outcome.text);
      emit(run, { stream: "lifecycle", data: { phase: "end", startedAt, endedAt, ...aborted, ...(whole === undefined ? {} : { shown: whole }) } });
    }
  }
}
