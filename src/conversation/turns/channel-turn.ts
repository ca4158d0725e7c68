import type { ShownReplies, Spoken, Steered, TurnEnd, TurnInput } from "../../agent/index.ts";
import { createHookLog } from "../../hooks/index.ts";
import { AppError, messageOf } from "../../base/errors.ts";
import type { ChannelPlugin, ReplyPayload } from "../../protocol/index.ts";
import { reasoningLevel, turnLimitMs, usageFooter, verboseLevel } from "../../sessions/index.ts";
import type { StepRow, Write } from "../../store/index.ts";
import type { OutgoingFacts } from "../delivery/delivery.ts";
import { isDecided } from "../delivery/shown-replies.ts";
import { traceOfMessage } from "../intake/inbound-hooks.ts";
import type { Live, LiveReplies, LiveReply } from "../live/live-replies.ts";
import type { ReplyStream } from "../reply/stream.ts";
import { inboxIdsOf, sameTurn, type ChannelItem } from "../lanes/item.ts";
import type { ActiveTurn } from "../lanes/session-lane.ts";
import type { ConversationDeps } from "../ports.ts";
import { channelInput } from "./channel-input.ts";
import type { RunEvent } from "./contract.ts";
import { dispatchedElsewhere } from "./reply-dispatch.ts";
import { logOutcome, outcomeOf } from "./run-log.ts";
import { closeUnanswered, unsaidOf, type Said } from "./transcript-note.ts";
import { ORIGINS, type AbortReason } from "./run.ts";

/** The channel as it shows a turn whose replies somebody else takes: that one shows that an answer is being written, and previews it if it wants to. */
function livePlugin({ typing }: LiveReply, id: string, plugin: ChannelPlugin | undefined): ChannelPlugin {
  const known = plugin ?? ({ id, capabilities: { chatTypes: ["direct", "group"] } } as unknown as ChannelPlugin);
  return { ...known, typing: typing && { start: typing }, preview: undefined };
}

/** A turn that answers messages of a channel. */
export interface ChannelRun {
  readonly runId: string;
  readonly sessionKey: string;
  readonly agentId: string;
  readonly items: readonly [ChannelItem, ...ChannelItem[]];
  readonly summarised: readonly ChannelItem[];
  readonly resumed: boolean;
  readonly abort: AbortController;
  /** Items that the model is to be shown at its next step. */
  readonly steering: ChannelItem[];
  /** Items that the turn took and has not committed: they are open until it does. */
  readonly taken: Set<ChannelItem>;
  /** Inputs that ended with the turn because it was shown them. */
  readonly merged: number[];
  /** What people see of the answer that is being written, whether plugins changed something in it, what they left of the answer before it, and whether that one was the last. */
  readonly shown: { readonly texts: string[]; isChanged: boolean; before: string | undefined; isAllOut: boolean };
  reason?: AbortReason;
  over: boolean;
}

export interface ChannelTurnContext {
  readonly deps: ConversationDeps;
  readonly emit: (run: { readonly runId: string; readonly sessionKey: string }, event: RunEvent) => void;
  readonly stopping: AbortSignal;
  readonly lives: Pick<LiveReplies, "of" | "ended">;
}

const GAVE_UP = "This took several attempts and could not be finished: please send it again.";
const FAILED = "Something went wrong while this was answered: please try again.";

/** Everybody who wrote these is an owner. */
export const isOwners = (items: readonly ChannelItem[]): boolean => items.every(({ messages }) => messages.every(({ access }) => access.owner));

/** How the lane speaks with the turn that runs. */
export function activeTurn(run: ChannelRun): ActiveTurn {
  return {
    steer(item) {
      if (run.over || run.abort.signal.aborted || item.kind !== "channel" || !sameTurn(item, run.items.at(-1)!)) return false;
      // A turn of the owner has the owner's tools: what others write meanwhile gets a turn of its own.
      if (isOwners(run.items) && !isOwners([item])) return false;
      run.steering.push(item);
      return true;
    },
    interrupt() {
      run.reason ??= "interrupt";
      run.abort.abort();
    },
    unshown() {
      const items = [...run.taken, ...run.steering.splice(0)];
      run.taken.clear();
      return items;
    },
  };
}

/** Items for the model, each ending with the commit that shows it. One that is also kept for a turn of its own stays open. */
function steered(run: ChannelRun): Steered[] {
  return run.steering.splice(0).map((item) => {
    if (item.queue.mode.value === "steer-backlog") return { text: item.text, writes: [] };
    run.taken.add(item);
    const settle: Write = [
      "inbox.settle",
      { ids: inboxIdsOf(item), outcome: "merged", why: "shown to the turn that was running", turnId: run.runId, hooks: item.hooks },
    ];
    const committed = (): void => {
      run.taken.delete(item);
      run.merged.push(...inboxIdsOf(item));
    };
    return { text: item.text, writes: [settle], committed };
  });
}

const addressOf = (run: ChannelRun) => run.items.at(-1)!.messages.at(-1)!.address;

/** Whoever waits for the replies by itself. */
const liveOf = (run: ChannelRun, { lives }: ChannelTurnContext): Live | undefined => lives.of(run.items.at(-1)!.messages.at(-1)!.id);

function factsOf(run: ChannelRun, kind: OutgoingFacts["kind"], context: ChannelTurnContext): OutgoingFacts {
  const live = liveOf(run, context)?.key;
  const last = run.items.at(-1)!.messages.at(-1)!;
  const { sessionKey, agentId, runId } = run;
  const answered = { senderId: last.event.sender.id, messageId: last.event.id, traceId: traceOfMessage(last) };
  return { kind, sessionKey, agentId, runId, ...answered, ...(live === undefined ? {} : { live }) };
}

/** Texts that a process before this one sent as blocks of this turn. */
function spokenIn(steps: readonly StepRow[]): readonly string[] {
  return steps.flatMap(({ kind, data }) => {
    const text = (data as { readonly text?: unknown } | null)?.text;
    return kind === "reply.block" && typeof text === "string" ? [text] : [];
  });
}

/** What was noted since something of the answer was last sent: its rows are on disk, and what came before them is settled. */
function sinceSent(steps: readonly StepRow[]): readonly StepRow[] {
  const sent = steps.findLastIndex(({ kind, data }) => kind === "reply.block" && (data as { readonly kind?: unknown } | null)?.kind === "block");
  return steps.slice(sent + 1);
}

/** Texts before calls that a process before this one left for the end of the turn. */
function unsentIn(steps: readonly StepRow[]): readonly string[] {
  return sinceSent(steps).flatMap(({ data }) => (data as { readonly unsent?: string } | null)?.unsent ?? []);
}

/** The message that a process before this one showed the answer in. */
function previewIn(steps: readonly StepRow[]): { readonly id: string | undefined } | undefined {
  const kept = sinceSent(steps).flatMap(({ data }) => (data as { readonly preview?: { readonly id?: string } } | null)?.preview ?? []);
  return kept.length === 0 ? undefined : { id: kept.findLast(({ id }) => id !== undefined)?.id };
}

async function openStream(run: ChannelRun, input: TurnInput, context: ChannelTurnContext): Promise<ReplyStream> {
  const { deps } = context;
  const live = liveOf(run, context)?.reply;
  const { store, config, clock, random, log, delivery } = deps;
  const address = addressOf(run);
  const last = run.items.at(-1)!.messages.at(-1)!;
  const [session, steps] = await Promise.all([
    store.read("sessions.get", { key: run.sessionKey }),
    run.resumed ? store.read("journal.steps", { turnId: run.runId }) : [],
  ]);
  const entry = session?.entry;
  const shown = previewIn(steps);
  const cfg = config.current;
  const { hints } = run.items.at(-1)!;
  const { openReplyStream } = await import("../reply/index.ts");
  return openReplyStream({
    plugin: live ? livePlugin(live, address.channel, deps.channels.get(address.channel)) : deps.channels.get(address.channel),
    ...(live?.blocks === undefined ? {} : { blocks: live.blocks }),
    address,
    cfg,
    agentId: run.agentId,
    levels: () => ({
      verbose: verboseLevel(config.current, entry, hints?.verbose).value,
      reasoning: reasoningLevel(entry, hints?.reasoning).value,
      usage: usageFooter(entry).value,
    }),
    wasMentioned: last.access.wasMentioned,
    isHeartbeat: false,
    clock,
    random,
    log,
    sessionKey: input.sessionKey,
    spoken: spokenIn(steps),
    unsent: unsentIn(steps),
    ...(shown ? { preview: shown } : {}),
    held: isHeld(run, context),
    async keepPreview(id) {
      if (id === undefined && deps.channels.running?.(address.channel, address.accountId) === false)
        throw new AppError("UNAVAILABLE", "the account is not connected: its answer waits");
      if (id === undefined && delivery.isBusy(address)) throw new AppError("UNAVAILABLE", "messages for this chat are still on their way");
      await store.write("journal.append", { turnId: run.runId, kind: "note", data: { preview: id === undefined ? {} : { id } } });
    },
    prefixFacts: {},
    localRoots: deps.mediaRoots?.(run.agentId) ?? [],
    ...(deps.redact ? { redact: deps.redact } : {}),
    async say(payload: ReplyPayload, kind: "block" | "tool") {
      const { writes, decided } = await delivery.prepare(address, [payload], factsOf(run, kind, context));
      if (kind === "block") noteShown(run, [payload], decided);
      if (writes.length === 0) return;
      await store.commit([...writes, blockStep(run, kind, payload.text)]);
      delivery.kick();
    },
  });
}

const blockStep = ({ runId }: ChannelRun, kind: "block" | "tool", text?: string): Write => [
  "journal.append",
  { turnId: runId, kind: "reply.block", data: kind === "block" ? { kind, text } : { kind } },
];

/** Adds what people see of the answer that is being written. `decided`: what plugins left of it, where they changed something. */
function noteShown({ shown }: ChannelRun, payloads: readonly ReplyPayload[], decided: readonly string[] | undefined): void {
  shown.texts.push(...(decided ?? payloads.flatMap(({ text }) => text ?? [])));
  shown.isChanged ||= decided !== undefined;
}

/** What people see of the answer that just ended, where that is not what the model wrote. */
function takeShown({ shown }: ChannelRun): string | undefined {
  const text = shown.isChanged ? shown.texts.join("\n\n") : undefined;
  shown.texts.length = 0;
  shown.isChanged = false;
  return text;
}

/** A text that the model wrote before a call: its rows are committed together with the answer, or it is noted for the end of the turn. */
async function spokenBetween(run: ChannelRun, stream: ReplyStream, text: string, context: ChannelTurnContext): Promise<Spoken> {
  const { deps } = context;
  const early = await stream.between(text);
  if (!early) return { writes: [["journal.append", { turnId: run.runId, kind: "note", data: { unsent: deps.redact?.(text) ?? text } }]], committed: () => {} };
  const { payloads, committed, ...preview } = early;
  const { writes, decided } = await deps.delivery.prepare(addressOf(run), payloads, { ...factsOf(run, "block", context), ...preview });
  noteShown(run, payloads, decided);
  const shown = takeShown(run);
  run.shown.before = shown;
  return {
    ...(shown === undefined ? {} : { shown }),
    writes: [...writes, ...payloads.map((payload) => blockStep(run, "block", payload.text))],
    committed() {
      committed();
      deps.delivery.kick();
    },
  };
}

/** The reply as writes of the turn's last commit. What cannot be shaped goes out as it is: an answer is never dropped. */
async function repliesOf(run: ChannelRun, stream: ReplyStream, end: TurnEnd, context: ChannelTurnContext): Promise<readonly Write[] | ShownReplies> {
  const { deps } = context;
  const facts = factsOf(run, "final", context);
  const usageState = { provider: end.provider, model: end.model, usage: end.usage.at(-1) };
  try {
    const { payloads, ...preview } = await stream.finish(end);
    const { writes, decided } = await deps.delivery.prepare(addressOf(run), payloads, { ...facts, usageState, ...preview });
    noteShown(run, payloads, decided);
    // Nothing came after the text before the last call: it is the answer.
    run.shown.isAllOut = payloads.length === 0;
    if (end.status === "ok" && payloads.length === 0 && run.shown.before !== undefined) return { writes, shown: run.shown.before, isWritten: true };
    // Plugins were not asked about part of an answer.
    if (end.status === "aborted" && isHeld(run, context)) return { writes, shown: run.shown.texts.join("\n\n") };
    const shown = end.status === "ok" ? takeShown(run) : undefined;
    return shown === undefined ? writes : { writes, shown };
  } catch (error) {
    deps.log.error(`a reply could not be shaped: ${messageOf(error)}`, { runId: run.runId, error });
    const texts = end.silent ? [] : end.texts;
    const plain = end.status === "ok" ? texts.map((text) => ({ text })) : [{ text: FAILED, isError: true }];
    return (await deps.delivery.prepare(addressOf(run), plain, facts)).writes;
  }
}

async function closeFailed(run: ChannelRun, why: string, text: string, context: ChannelTurnContext, said?: Said): Promise<void> {
  const { deps, emit } = context;
  const inboxIds = [...run.summarised, ...run.items].flatMap(inboxIdsOf);
  const { writes } = await deps.delivery.prepare(addressOf(run), [{ text, isError: true }], factsOf(run, "final", context));
  await closeUnanswered(deps, { ...run, inboxIds, outcome: "failed", why, result: { status: "error", error: why }, writes }, said);
  deps.delivery.kick();
  emit(run, { stream: "lifecycle", data: { phase: "error", error: why, endedAt: deps.clock.now() } });
}

/** Whether plugins decide about what goes out, so that nobody is shown anything before they have. */
const isHeld = (run: ChannelRun, context: ChannelTurnContext): boolean => isDecided(context.deps, addressOf(run), factsOf(run, "final", context));

function tellEnd(run: ChannelRun, end: TurnEnd, { deps, emit }: ChannelTurnContext): void {
  const outcome = outcomeOf(end);
  logOutcome(deps.log, run, outcome);
  const { startedAt, endedAt } = end;
  const aborted = outcome.status === "aborted" ? { aborted: true, ...(run.reason === undefined ? {} : { reason: run.reason }) } : {};
  if (outcome.status === "error") emit(run, { stream: "lifecycle", data: { phase: "error", error: outcome.error, startedAt, endedAt } });
  else emit(run, { stream: "lifecycle", data: { phase: "end", startedAt, endedAt, ...aborted, ...(end.shown === undefined ? {} : { shown: end.shown }) } });
}

function abortRun(run: ChannelRun, reason: "stop" | "timeout"): void {
  run.reason ??= reason;
  run.abort.abort();
}

/** Whoever waits for the answer does not want it any more. */
function abortWith(run: ChannelRun, signal: AbortSignal): Disposable {
  const stop = (): void => abortRun(run, "stop");
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop, { once: true });
  return { [Symbol.dispose]: () => signal.removeEventListener("abort", stop) };
}

/** The inputs are at their end: whoever waits for the replies is handed them. */
export function endLives(run: ChannelRun, { lives }: Pick<ChannelTurnContext, "lives">): void {
  lives.ended([...[...run.summarised, ...run.items].flatMap(inboxIdsOf), ...run.merged], run.runId);
}

/** The sign that a message was seen goes when the answer is there, not when it is on its way. */
function removeAcks({ items, runId }: ChannelRun, { delivery, store, log }: ConversationDeps): void {
  const acks = items.flatMap(({ ack }) => ack ?? []);
  if (acks.length === 0) return;
  const settled = new Set<number>();
  const open = Promise.withResolvers<ReadonlySet<number>>();
  const done = Promise.withResolvers<void>();
  const check = (ids: ReadonlySet<number>): void => {
    if (ids.isSubsetOf(settled)) done.resolve();
  };
  const listening = delivery.onSettled(({ id }) => {
    settled.add(id);
    void open.promise.then(check);
  });
  store.read("outbox.ofTurn", { turnId: runId }).then(
    (rows) => open.resolve(new Set(rows.flatMap((row) => (row.settledAt === null ? [row.id] : [])))),
    (error: unknown) => {
      log.debug("the replies of a turn could not be looked for", { runId, error });
      open.resolve(new Set());
    },
  );
  void open.promise.then(check);
  void done.promise.then(() => {
    listening[Symbol.dispose]();
    for (const ack of acks) ack.replied();
  });
}

async function answer(run: ChannelRun, context: ChannelTurnContext): Promise<void> {
  const { deps, emit, stopping } = context;
  const live = liveOf(run, context)?.reply;
  using _abort = live?.signal ? abortWith(run, live.signal) : undefined;
  const limitMs = turnLimitMs(deps.config.current);
  using timer = limitMs > 0 ? deps.clock.after(limitMs, () => abortRun(run, "timeout")) : undefined;
  const session = await deps.store.read("sessions.get", { key: run.sessionKey });
  const input = await channelInput(deps, { ...run, signal: run.abort.signal, entry: session?.entry });
  const hookLog = createHookLog(deps.hooks, deps.clock.now);
  hookLog.add(run.items.flatMap(({ hooks = [] }) => hooks));
  if (await dispatchedElsewhere(run, input, deps, hookLog, factsOf(run, "final", context))) return;
  const stream = await openStream(run, input, context);
  const held = isHeld(run, context);
  const show = (text: string): void => (held && text !== "" ? emit(run, { stream: "assistant", data: { text, delta: text } }) : undefined);
  const agents = await deps.agents();
  const logged = hookLog.entries.length === 0 ? input : { ...input, hookLog: hookLog.entries };
  const end = await agents.turn(logged, {
    emit(event) {
      stream.event(event);
      live?.event?.(event);
      if (!held || event.stream !== "assistant") emit(run, event);
    },
    signal: run.abort.signal,
    origin: () => ORIGINS[run.reason ?? "stop"],
    stopping,
    steered: () => steered(run),
    async replies(ended) {
      run.over = true;
      live?.ended?.(ended);
      return repliesOf(run, stream, ended, context);
    },
    async spoken(text) {
      const said = await spokenBetween(run, stream, text, context).catch(async (error: unknown): Promise<Spoken> => {
        deps.log.error(`a text before a call could not be shaped: ${messageOf(error)}`, { runId: run.runId, error });
        const { writes } = await deps.delivery.prepare(addressOf(run), [{ text }], factsOf(run, "block", context)).catch(() => ({ writes: [] }));
        return { writes, committed: () => deps.delivery.kick() };
      });
      show(said.shown ?? text);
      return said;
    },
  });
  timer?.[Symbol.dispose]();
  if (!end || end === "given-up") await stream.abandon();
  if (!end) return;
  if (end === "given-up") return closeFailed(run, "interrupted too often", GAVE_UP, context, await unsaidOf(deps, input));
  deps.delivery.kick();
  endLives(run, context);
  removeAcks(run, deps);
  if (end.status === "ok" && end.silent !== true && !run.shown.isAllOut) show(end.shown ?? end.text);
  tellEnd(run, end, context);
  if (end.status === "ok" && !stopping.aborted) await agents.after(input, end, { signal: new AbortController().signal, stopping });
}

/** Answers messages of a channel. Never rejects: what goes wrong is told to whoever wrote. */
export async function treatChannelRun(run: ChannelRun, context: ChannelTurnContext): Promise<void> {
  const { deps, stopping } = context;
  if (stopping.aborted) return;
  try {
    await answer(run, context);
  } catch (error) {
    deps.log.error(`a turn failed: ${messageOf(error)}`, { runId: run.runId, error });
    const text = await import("../reply/index.ts").then(
      ({ brokenText }) => brokenText(error, deps.redact) ?? FAILED,
      () => FAILED,
    );
    await closeFailed(run, messageOf(error), text, context).catch((second: unknown) =>
      deps.log.error(`the end of a turn could not be written: ${messageOf(second)}`, { runId: run.runId, error: second }),
    );
  } finally {
    run.over = true;
  }
}
