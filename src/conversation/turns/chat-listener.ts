/** Chats get their answers over a channel: as rows of the outbox, with a preview or blocks while the turn runs. */
import type { ShownReplies, Spoken, TurnEnd } from "../../agent/index.ts";
import { AppError, messageOf } from "../../base/errors.ts";
import { isRecord } from "../../base/records.ts";
import type { ChannelPlugin, ReplyPayload, SessionEntry } from "../../protocol/index.ts";
import { gatewayMessage, reasoningLevel, usageFooter, verboseLevel } from "../../sessions/index.ts";
import type { StepRow, Write } from "../../store/index.ts";
import { commitEnd, commitEndWithNote, emitEnd } from "../closing.ts";
import type { OutgoingFacts, PreparedReply } from "../delivery/delivery.ts";
import { asksBeforeSending, isDecided } from "../delivery/message-hooks.ts";
import type { ReplyStream, ReplyStreamDeps } from "../reply/reply-stream.ts";
import type { Listener, Turn, TurnStream } from "../items.ts";
import { channelInput } from "./channel-input.ts";
import type { ConversationContext, ConversationDeps } from "../ports.ts";
import type { LiveReply } from "./live-replies.ts";
import { withSpeech, withSpokenAnswer } from "./spoken-answer.ts";

const FAILED = "Something went wrong while answering. Please try again.";

/** The channel as it shows a turn whose replies a plugin takes: the plugin shows that an answer is being written, and previews it if it wants to. */
function livePlugin({ typing }: LiveReply, id: string, plugin: ChannelPlugin | undefined): ChannelPlugin {
  const known = plugin ?? ({ id, capabilities: { chatTypes: ["direct", "group"] } } as unknown as ChannelPlugin);
  return { ...known, typing: typing && { start: typing }, preview: undefined };
}

/** What belongs to an answer. One without a turn belongs to no run. */
function factsOf({ main, isBegun }: Pick<Turn, "main" | "isBegun">, kind: OutgoingFacts["kind"]): OutgoingFacts {
  const { id: runId, sessionKey, agentId, last } = main;
  const answered = { senderId: last.event.sender.id, messageId: last.event.id, traceId: last.traceId };
  return { kind, sessionKey, agentId, ...(isBegun ? { runId } : {}), ...answered, ...(last.live ? { live: last.live.key } : {}) };
}

/** What a previous process showed and sent of a turn's answer. */
type Earlier = Pick<ReplyStreamDeps, "spoken" | "unsent" | "preview">;

function earlierIn(steps: readonly StepRow[]): Earlier {
  const notes = steps.map(({ kind, data }) => ({ isBlock: kind === "reply.block", data: isRecord(data) ? data : {} }));
  // What was noted since something of the answer was last sent: its rows are on disk, and what came before them is settled.
  const since = notes.slice(notes.findLastIndex(({ isBlock, data }) => isBlock && data["kind"] === "block") + 1);
  const previews = since.flatMap(({ data: { preview } }) => (isRecord(preview) ? [preview["id"]] : []));
  const id = previews.findLast((one) => typeof one === "string");
  return {
    spoken: notes.flatMap(({ isBlock, data: { text } }) => (isBlock && typeof text === "string" ? [text] : [])),
    unsent: since.flatMap(({ data: { unsent } }) => (typeof unsent === "string" ? [unsent] : [])),
    ...(previews.length === 0 ? {} : { preview: { id } }),
  };
}

/** What people see of a turn's answers, where that may differ from what the model wrote. */
interface Shown {
  readonly turn: Turn;
  readonly entry: SessionEntry | undefined;
  /** Plugins decide about what goes out: nothing is shown before they have. */
  readonly isHeld: boolean;
  /** Of the answer that is being written. */
  readonly texts: string[];
  isChanged: boolean;
  /** What plugins left of the answer before it. */
  before: string | undefined;
  /** Nothing came after the text before the last call. */
  isAllOut: boolean;
}

const blockStep = ({ main }: Turn, kind: "block" | "tool", text?: string): Write => [
  "journal.append",
  { turnId: main.id, kind: "reply.block", data: kind === "block" ? { kind, text } : { kind } },
];

/** Adds what people see of the answer that is being written. `decided`: what plugins left of it, where they changed something. */
function noteShown(shown: Shown, payloads: readonly ReplyPayload[], decided: readonly string[] | undefined): void {
  shown.texts.push(...(decided ?? payloads.flatMap(({ text }) => text ?? [])));
  shown.isChanged ||= decided !== undefined;
}

/** What people see of the answer that just ended, where that is not what the model wrote. */
function takeShown(shown: Shown): string | undefined {
  const text = shown.isChanged ? shown.texts.join("\n\n") : undefined;
  shown.texts.length = 0;
  shown.isChanged = false;
  return text;
}

/** Typing, preview and blocks of a turn. */
async function openReply(shown: Shown, context: ConversationContext): Promise<ReplyStream> {
  const { deps } = context;
  const { turn, entry } = shown;
  const { main } = turn;
  const { id: turnId, agentId, sessionKey, hints } = main;
  const { store, config, clock, random, log, delivery, channels } = deps;
  const { address, access } = main.last;
  const live = main.last.live?.reply;
  const earlier = main.hasBegun ? earlierIn(await store.read("journal.steps", { turnId })) : { spoken: [] };
  const plugin = channels.get(address.channel);
  const { openReplyStream } = await context.loadReply();
  return openReplyStream({
    plugin: live ? livePlugin(live, address.channel, plugin) : plugin,
    ...(live?.blocks === undefined ? {} : { blocks: live.blocks }),
    address,
    cfg: config.current,
    agentId,
    levels: () => ({
      verbose: verboseLevel(config.current, entry, hints?.verbose).value,
      reasoning: reasoningLevel(entry, hints?.reasoning).value,
      usage: usageFooter(entry).value,
    }),
    wasMentioned: access.wasMentioned,
    isHeartbeat: false,
    clock,
    random,
    log,
    sessionKey,
    ...earlier,
    held: shown.isHeld,
    async keepPreview(id) {
      if (id === undefined && channels.running?.(address.channel, address.accountId) === false)
        throw new AppError("UNAVAILABLE", "the account is not connected: the answer waits");
      if (id === undefined && delivery.isBusy(address)) throw new AppError("UNAVAILABLE", "messages for this chat are still being sent");
      await store.write("journal.append", { turnId, kind: "note", data: { preview: id === undefined ? {} : { id } } });
    },
    prefixFacts: {},
    localRoots: deps.mediaRoots?.(agentId) ?? [],
    ...(deps.redact ? { redact: deps.redact } : {}),
    async say(payload: ReplyPayload, kind: "block" | "tool") {
      const payloads = await withSpeech({ turn, entry, context }, [payload], kind);
      const { writes, decided } = await delivery.prepare(address, payloads, factsOf(turn, kind));
      if (kind === "block") noteShown(shown, [payload], decided);
      if (writes.length === 0) return;
      await store.commit([...writes, blockStep(turn, kind, payload.text)]);
      delivery.kick();
    },
  });
}

/** A text that the model wrote before a call: its rows are committed together with the answer, or it is noted for the end of the turn. */
async function spokenBetween(shown: Shown, reply: ReplyStream, text: string, context: ConversationContext): Promise<Spoken> {
  const { deps } = context;
  const { turn } = shown;
  const early = await reply.between(text);
  if (!early)
    return { writes: [["journal.append", { turnId: turn.main.id, kind: "note", data: { unsent: deps.redact?.(text) ?? text } }]], committed: () => {} };
  const { payloads, committed, ...preview } = early;
  const spoken = await withSpeech({ turn, entry: shown.entry, context }, payloads, "block");
  const { writes, decided } = await deps.delivery.prepare(turn.main.last.address, spoken, { ...factsOf(turn, "block"), ...preview });
  noteShown(shown, payloads, decided);
  shown.before = takeShown(shown);
  return {
    ...(shown.before === undefined ? {} : { shown: shown.before }),
    writes: [...writes, ...payloads.map((payload) => blockStep(turn, "block", payload.text))],
    committed() {
      committed();
      deps.delivery.kick();
    },
  };
}

/** The reply as writes of the turn's last commit. What cannot be shaped goes out as it is: an answer is never dropped. */
async function repliesOf(shown: Shown, reply: ReplyStream, end: TurnEnd, context: ConversationContext): Promise<readonly Write[] | ShownReplies> {
  const { deps } = context;
  const { turn } = shown;
  const { address } = turn.main.last;
  const facts = factsOf(turn, "final");
  const usageState = { provider: end.provider, model: end.model, usage: end.usage.at(-1) };
  try {
    const { payloads: written, ...preview } = await reply.finish(end);
    const payloads = await withSpokenAnswer({ turn, entry: shown.entry, context }, end, written);
    const { writes, decided } = await deps.delivery.prepare(address, payloads, { ...facts, usageState, ...preview });
    noteShown(shown, payloads, decided);
    // Nothing came after the text before the last call: it is the answer.
    shown.isAllOut = payloads.length === 0;
    if (end.status === "ok" && shown.isAllOut && shown.before !== undefined) return { writes, shown: shown.before, isWritten: true };
    // Plugins were not asked about part of an answer.
    if (end.status === "aborted" && shown.isHeld) return { writes, shown: shown.texts.join("\n\n") };
    const text = end.status === "ok" ? takeShown(shown) : undefined;
    return text === undefined ? writes : { writes, shown: text };
  } catch (error) {
    deps.log.error(`a reply could not be formatted: ${messageOf(error)}`, { runId: turn.main.id, error });
    const texts = end.silent ? [] : end.texts;
    const plain = end.status === "ok" ? texts.map((text) => ({ text })) : [{ text: FAILED, isError: true }];
    return (await deps.delivery.prepare(address, plain, facts)).writes;
  }
}

/** The sign that a message was seen goes when the answer is there, not when it is on its way. */
function removeAcks({ items, main }: Turn, { delivery, store, log }: ConversationDeps): void {
  const turnId = main.id;
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
  store.read("outbox.ofTurn", { turnId }).then(
    (rows) => open.resolve(new Set(rows.flatMap((row) => (row.settledAt === null ? [row.id] : [])))),
    (error: unknown) => {
      log.debug("the replies of a turn could not be read", { runId: turnId, error });
      open.resolve(new Set());
    },
  );
  void open.promise.then(check);
  void done.promise.then(() => {
    listening[Symbol.dispose]();
    for (const { ack } of items) void ack?.replied();
  });
}

async function openStream(turn: Turn, entry: SessionEntry | undefined, context: ConversationContext): Promise<TurnStream> {
  const { deps, emit } = context;
  const { id: runId, sessionKey, last } = turn.main;
  const run = { runId, sessionKey };
  const live = last.live?.reply;
  const isHeld = asksBeforeSending(deps.hooks) && isDecided(deps, last.address, factsOf(turn, "final"));
  const shown: Shown = { turn, entry, isHeld, texts: [], isChanged: false, before: undefined, isAllOut: false };
  const reply = await openReply(shown, context);

  function show(text: string): void {
    if (isHeld && text !== "") emit(run, { stream: "assistant", data: { text, delta: text } });
  }

  return {
    event(event) {
      reply.event(event);
      live?.event?.(event);
      if (!isHeld || event.stream !== "assistant") emit(run, event);
    },
    async spoken(text) {
      const spoken = await spokenBetween(shown, reply, text, context).catch(async (error: unknown): Promise<Spoken> => {
        deps.log.error(`a text before a tool call could not be formatted: ${messageOf(error)}`, { runId, error });
        const { writes } = await deps.delivery.prepare(last.address, [{ text }], factsOf(turn, "block")).catch(() => ({ writes: [] }));
        return { writes, committed: () => deps.delivery.kick() };
      });
      show(spoken.shown ?? text);
      return spoken;
    },
    async finish(end) {
      live?.ended?.(end);
      return repliesOf(shown, reply, end, context);
    },
    settled(end, outcome) {
      deps.delivery.kick();
      if (turn.items.some(({ ack }) => ack)) removeAcks(turn, deps);
      if (end.status === "ok" && end.silent !== true && !shown.isAllOut) show(end.shown ?? end.text);
      emitEnd(turn, end, outcome, end.shown, emit);
      return outcome;
    },
    abandon: reply.abandon,
  };
}

async function prepare(turn: Turn, payloads: readonly ReplyPayload[], { deps }: ConversationContext): Promise<Pick<PreparedReply, "writes" | "decided">> {
  if (payloads.length === 0) return { writes: [] };
  return deps.delivery.prepare(turn.main.last.address, payloads, factsOf(turn, turn.isBegun ? "final" : "command"));
}

export const chatListener: Listener = {
  input: channelInput,
  open: openStream,
  failureNotice: async (turn, text, context) => (await prepare(turn, [{ text, isError: true }], context)).writes,
  async answer(turn, { reply, outcome, why, hooks, unsaid }, context) {
    const { deps } = context;
    const { writes, decided } = await prepare(turn, reply, context);
    const text = (decided ?? reply.flatMap((payload) => payload.text ?? [])).join("\n");
    const result = { status: "ok", text, sessionId: "", durationMs: 0 } as const;
    const end = { outcome, why, result, writes, hooks };
    if (!turn.isBegun || text === "") await commitEnd(deps, turn, end);
    // The session's history has what was asked and what the chat was sent.
    else await commitEndWithNote(deps, turn, end, (at) => gatewayMessage("gateway-injected", text, at), unsaid);
    if (writes.length > 0) deps.delivery.kick();
    return result;
  },
  async sendAsides(item, asides, { deps }) {
    await deps.delivery.send(item.last.address, asides, factsOf({ main: item, isBegun: false }, "command"), 0);
    return [];
  },
};
