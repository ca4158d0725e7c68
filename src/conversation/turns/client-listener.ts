/** Clients of the gateway see their answers by events and in the transcript; where they ask for it, a chat gets them too. */
import type { ShownReplies, Spoken, TurnEnd, TurnInput } from "../../agent/index.ts";
import { looksMade } from "../../base/user-text.ts";
import type { HookLogEntry } from "../../hooks/index.ts";
import type { ReplyPayload, SessionEntry } from "../../protocol/index.ts";
import { gatewayMessage, reasoningLevel, usageFooter as usageLevel } from "../../sessions/index.ts";
import type { Write } from "../../store/index.ts";
import { childEnd, commitEnd, commitEndWithNote, emitEnd, noteWrites, runsOf } from "../closing.ts";
import type { ReplyAddress } from "../address.ts";
import type { RunOutcome } from "../contract.ts";
import type { OutgoingFacts } from "../delivery/delivery.ts";
import { asksBeforeSending, decideShown, isDecided, notifySent, shownText } from "../delivery/message-hooks.ts";
import type { ClientRequest } from "../inbound.ts";
import type { Item, Listener, Turn, TurnStream } from "../items.ts";
import { filesOf, spokenBody } from "../intake/hearing.ts";
import { summaryOf } from "./channel-input.ts";
import { withSpokenAnswer } from "./spoken-answer.ts";
import type { ConversationContext, ConversationDeps } from "../ports.ts";
import { knownFiles } from "./understood.ts";

/** What belongs to the answer of a client's run, for hooks and for rows in the outbox. */
export function factsOf(item: Item, kind: OutgoingFacts["kind"]): OutgoingFacts {
  const { id, sessionKey, agentId, last } = item;
  return { kind, runId: id, sessionKey, agentId, senderId: last.event.sender.id, messageId: id, traceId: last.traceId };
}

/** What a client is shown, after plugins have decided about it. */
export interface ClientReply {
  /** Rows for the chat that it is also sent to. */
  readonly writes: readonly Write[];
  /** What the client is shown, message by message. */
  readonly texts: readonly string[];
  /** Whether a plugin changed or cancelled something. */
  readonly changed: boolean;
  readonly log: readonly HookLogEntry[];
  /** Call when the writes are committed and the client was shown the texts. */
  sent(): void;
}

const textsOf = (payloads: readonly ReplyPayload[]): readonly string[] => payloads.map(shownText).filter((text) => text !== "");

/** Asks plugins about an answer, once: as a message of the chat that it is also sent to, or as one of the client's own conversation. */
export async function replyOf(
  deps: ConversationDeps,
  item: Item,
  payloads: readonly ReplyPayload[],
  more: Pick<OutgoingFacts, "kind" | "usageState">,
): Promise<ClientReply> {
  const facts = { ...factsOf(item, more.kind), ...more };
  const chat = item.request?.reply;
  if (chat) {
    const { writes, decided } = await deps.delivery.prepare(chat, payloads, facts);
    return { writes, texts: decided ?? textsOf(payloads), changed: decided !== undefined, log: [], sent: () => deps.delivery.kick() };
  }
  const { address } = item.last;
  // Without plugins the answer is shown as it is.
  const { texts, changed, log } = asksBeforeSending(deps.hooks)
    ? await decideShown(payloads, address, facts, deps)
    : { texts: textsOf(payloads), changed: false, log: [] };
  return {
    writes: [],
    texts,
    changed,
    log,
    sent: () =>
      notifySent(
        deps,
        texts.map((content) => ({ to: address.to, content, success: true, messageId: item.id })),
        address,
        facts,
      ),
  };
}

/** The session's settings may add reasoning and usage to the answer. Undefined: nothing but the answer. Only for callers whose text may be a command. */
async function shownParts(item: Item, end: TurnEnd, thoughts: string, { store }: ConversationDeps): Promise<readonly string[] | undefined> {
  const { sessionKey, hints, request } = item;
  if (request?.scopes === undefined || end.status !== "ok" || end.silent === true || (end.text === "" && end.stopReason !== "length")) return undefined;
  const entry = (await store.read("sessions.get", { key: sessionKey }))?.entry;
  const usage = usageLevel(entry).value;
  const showsThoughts = reasoningLevel(entry, hints?.reasoning).value === "on";
  if (usage === "off" && !showsThoughts && end.stopReason !== "length") return undefined;
  const { reasoningPayload, answerFooter } = await import("../reply/index.ts");
  const reasoning = showsThoughts ? reasoningPayload(thoughts)?.text : undefined;
  const footer = answerFooter(end, { level: usage, sessionKey });
  if (reasoning === undefined && footer === undefined) return undefined;
  return [...(reasoning === undefined ? [] : [reasoning]), [end.text, footer].filter(Boolean).join("\n\n")];
}

type Ended = Pick<TurnEnd, "text" | "texts"> & Partial<TurnEnd>;

/** The answer as it is sent to a channel, when the client asked for that. */
export async function channelPayloads(
  item: Item,
  ended: Ended,
  deps: ConversationDeps,
  { address = item.request?.reply, isHeartbeat = false }: { readonly address?: ReplyAddress | undefined; readonly isHeartbeat?: boolean } = {},
): Promise<readonly ReplyPayload[]> {
  const { sessionKey, agentId } = item;
  if (!address) return [];
  const { openReplyStream } = await import("../reply/index.ts");
  const { clock, random, log, config } = deps;
  // Of a text before a call it is not known yet what it took.
  const usage = ended.usage ? usageLevel((await deps.store.read("sessions.get", { key: sessionKey }))?.entry).value : "off";
  const stream = openReplyStream({
    plugin: undefined,
    address,
    cfg: config.current,
    agentId,
    sessionKey,
    levels: () => ({ verbose: "off", reasoning: "off", usage }),
    wasMentioned: true,
    isHeartbeat,
    clock,
    random,
    log,
    say: async () => {},
    spoken: [],
    prefixFacts: {},
    localRoots: deps.mediaRoots?.(agentId) ?? [],
  });
  const now = clock.now();
  return (await stream.finish({ status: "ok", sessionId: "", startedAt: now, endedAt: now, usage: [], ...ended })).payloads;
}

/** Shows a turn to clients. Where plugins decide about the answer, nothing of it is shown before they have. */
async function openStream(turn: Turn, entry: SessionEntry | undefined, context: ConversationContext): Promise<TurnStream> {
  const { deps, emit } = context;
  const { main } = turn;
  const { id: runId, sessionKey, request } = main;
  const run = { runId, sessionKey };
  const chat = request?.reply;
  const isHeld = asksBeforeSending(deps.hooks) && isDecided(deps, chat ?? main.last.address, factsOf(main, "final"));
  /** Texts before calls, which plugins decided about while the turn ran. */
  const between: { readonly text: string; readonly reply: ClientReply }[] = [];
  let thoughts = "";
  /** What is shown, where that is more than the answer's text. */
  let parts: readonly string[] | undefined;
  let reply: ClientReply | undefined;
  /** The answer's text was shown before a call, and nothing came after it. */
  let isShown = false;

  const show = (text: string): void => emit(run, { stream: "assistant", data: { text, delta: text } });
  const hookNotes = (log: ClientReply["log"]): readonly Write[] =>
    log.length === 0 ? [] : [["journal.append", { turnId: runId, kind: "note", data: { hooks: log } }]];

  async function spoken(text: string): Promise<Spoken | undefined> {
    const payloads = chat ? await channelPayloads(main, { text, texts: [text] }, deps) : [{ text }];
    const asked = await replyOf(deps, main, payloads, { kind: "block" });
    between.push({ text, reply: asked });
    const shown = asked.texts.join("\n\n");
    // Before the commit, as without plugins: a client that joins after it reads the text in the transcript.
    if (shown !== "") show(asked.changed ? shown : text);
    return { ...(asked.changed ? { shown } : {}), writes: [...asked.writes, ...hookNotes(asked.log)], committed: () => asked.sent() };
  }

  /** The end without the texts that plugins decided about while the turn ran. */
  const rest = (end: TurnEnd): Ended => {
    if (between.length === 0) return end;
    const isDone = (text: string): boolean => between.some((one) => one.text.includes(text));
    return { ...end, texts: end.silent ? end.texts.filter((text) => !isDone(text)) : end.texts.slice(between.length) };
  };

  async function decide(end: TurnEnd): Promise<void> {
    const usageState = { provider: end.provider, model: end.model, usage: end.usage.at(-1) };
    const last = between.at(-1);
    if (last && end.status === "ok" && end.silent !== true && end.texts.length <= between.length) {
      isShown = true;
      reply = { ...last.reply, writes: [], log: [], sent: () => {} };
      return;
    }
    parts = await shownParts(main, end, thoughts, deps).catch(() => undefined);
    const hasText = (end.status === "ok" || end.status === "blocked") && end.silent !== true && (parts !== undefined || end.text !== "");
    if (chat) {
      const payloads = await withSpokenAnswer({ turn, entry, context }, end, await channelPayloads(main, rest(end), deps));
      reply = await replyOf(deps, main, payloads, { kind: "final", usageState });
    }
    if (!chat && hasText)
      reply = await replyOf(
        deps,
        main,
        (parts ?? [end.text]).map((text) => ({ text })),
        { kind: "final", usageState },
      );
  }

  return {
    event(event) {
      if (event.stream === "thinking") thoughts += event.data.delta;
      if (!isHeld || event.stream !== "assistant") emit(run, event);
    },
    spoken: isHeld ? spoken : undefined,
    async finish(end): Promise<readonly Write[] | ShownReplies> {
      await decide(end);
      const { log = [], writes = [] } = reply ?? {};
      const all: Write[] = [...writes, ...hookNotes(log), ...childEnd(main, end, deps.config.current)];
      if (reply?.changed) return { writes: all, shown: reply.texts.join("\n\n"), ...(isShown ? { isWritten: true } : {}) };
      // Plugins were not asked about part of an answer.
      return isHeld && (end.status === "aborted" || end.status === "failed") ? { writes: all, shown: "" } : all;
    },
    settled(end, outcome) {
      const whole = reply?.changed ? reply.texts : parts;
      const isSilent = isHeld && outcome.status === "ok" && outcome.silent === true;
      if (isHeld && !isShown && outcome.status === "ok" && outcome.text !== "" && outcome.silent !== true) show(outcome.text);
      emitEnd(turn, end, outcome, end.shown ?? whole?.join("\n\n") ?? (isSilent ? "" : undefined), emit);
      reply?.sent();
      const asides = runsOf(turn).flatMap((item) => item.asides);
      if (outcome.status !== "ok" || (whole === undefined && asides.length === 0)) return outcome;
      return { ...outcome, payloads: [...asides, ...(whole ?? (outcome.silent ? [] : [outcome.text]))] };
    },
    abandon: async () => {},
  };
}

/** Nobody asked for these, and nobody looks for their answers. */
const UNATTENDED: ReadonlySet<NonNullable<ClientRequest["kind"]>> = new Set(["cron", "heartbeat", "webhook", "subagent", "session"]);

/** The messages as the agent gets them. */
async function inputOf(turn: Turn, entry: SessionEntry | undefined, deps: ConversationDeps): Promise<TurnInput> {
  const { main, items, summarised, inputs } = turn;
  const { id: runId, sessionKey, agentId, text, last } = main;
  const asked: ClientRequest = main.request ?? { inboxId: last.id, runId, sessionKey, agentId, message: text, channel: last.channel };
  const {
    inboxId: _id,
    timeoutMs: _timeout,
    scopes: _scopes,
    reply: _reply,
    kind,
    heartbeat: _heartbeat,
    files: _files,
    images: _images,
    decided: _decided,
    owner = false,
    ...request
  } = asked;
  const attached = items.flatMap(({ request: of }) => (of?.images ?? []).map((image) => ({ mimeType: image.mimeType, image })));
  const files = [...attached, ...items.flatMap(({ request: of }) => of?.files ?? [])];
  // What was understood of a message that is answered once more is in the conversation.
  const { images, lines } = request.again ? { images: [], lines: [] } : await knownFiles(deps, turn, entry, files);
  const many = items.length > 1 ? [`[${items.length} messages that came while you were busy]`] : [];
  const summary = summarised.length === 0 ? [] : [summaryOf(summarised)];
  const texts: string[] = [];
  for (const item of items) texts.push(await textWithFiles(item, deps));
  const message = [...summary, ...many, ...texts, ...lines].join("\n\n");
  const thinking = items.findLast((item) => item.thinking !== undefined)?.thinking ?? request.thinking;
  const model = items.findLast(({ hints }) => hints?.model !== undefined)?.hints?.model ?? request.model;
  return {
    ...request,
    ...(kind === "cron" || kind === "heartbeat" ? { trigger: kind } : {}),
    ...(kind !== undefined && UNATTENDED.has(kind) ? { hearing: asked.reply ? ("chat" as const) : ("nobody" as const) } : {}),
    // A heartbeat does not change where answers go.
    ...(kind === "heartbeat" ? { entryFields: {} } : {}),
    traceId: last.traceId,
    message,
    // Messages of the gateway itself are made.
    isVerbatim: kind === undefined && items.some((item) => looksMade(item.text)),
    owner,
    inboxIds: inputs,
    resumed: main.isResumed,
    ...(images.length === 0 ? {} : { images }),
    ...(thinking === undefined ? {} : { thinking }),
    ...(model === undefined ? {} : { model }),
  };
}

async function textWithFiles(item: Item, deps: ConversationDeps): Promise<string> {
  const { request, text, isSpoken } = item;
  if (!request?.files?.length) return text;
  const { lines, transcripts } = await filesOf(deps, item);
  const body = isSpoken ? spokenBody("", [text]) : transcripts.length > 0 ? spokenBody(text, transcripts) : text;
  return [...(body === "" ? [] : [body]), ...lines].join("\n\n");
}

const injected = (text: string) => (at: number) => gatewayMessage("gateway-injected", text, at);

/** Shows clients a message that is complete at once. */
function emitWhole(run: { readonly runId: string; readonly sessionKey: string }, text: string, { deps, emit }: ConversationContext): void {
  const now = deps.clock.now();
  emit(run, { stream: "lifecycle", data: { phase: "start", startedAt: now } });
  if (text !== "") emit(run, { stream: "assistant", data: { text, delta: text } });
  emit(run, { stream: "lifecycle", data: { phase: "end", startedAt: now, endedAt: now } });
}

export const clientListener: Listener = {
  input: (turn, entry, { deps }) => inputOf(turn, entry, deps),
  open: openStream,
  failureNotice: async () => [],
  async answer(turn, { reply: payloads, outcome, why, hooks }, context) {
    const { deps } = context;
    const { main } = turn;
    const reply = await replyOf(deps, main, payloads, { kind: "command" });
    const { texts, writes, log } = reply;
    const text = texts.join("\n\n");
    const sessionId = (await deps.store.read("sessions.get", { key: main.sessionKey }))?.entry.sessionId ?? "";
    const shown = { ...(text === "" ? { silent: true } : {}), ...(texts.length > 1 ? { payloads: texts } : {}) };
    const result: RunOutcome = { status: "ok", text, sessionId, durationMs: 0, ...shown };
    const end = { outcome, why, result, writes, hooks: [...hooks, ...log] };
    if (text === "") await commitEnd(deps, turn, end);
    else await commitEndWithNote(deps, turn, end, injected(text));
    for (const item of runsOf(turn)) emitWhole({ runId: item.id, sessionKey: item.sessionKey }, item === main ? text : "", context);
    reply.sent();
    return result;
  },
  /** A status notice is for chats only: a client sees the new session by itself. */
  async sendAsides(item, asides, context) {
    const { deps } = context;
    const { sessionKey, id, request } = item;
    const forClients = asides.filter(({ isStatusNotice }) => isStatusNotice !== true);
    const reply = await replyOf(deps, item, request?.reply ? asides : forClients, { kind: "command" });
    const texts = reply.changed ? reply.texts : textsOf(forClients);
    const text = texts.join("\n\n");
    const note = text === "" ? [] : await noteWrites(deps, item, injected(text));
    if (reply.writes.length > 0) await deps.store.commit(reply.writes);
    if (note.length > 0) await deps.store.commit(note).catch(() => {}); // The transcript grew in between: it is sent and not stored.
    for (const [at, aside] of texts.entries()) emitWhole({ runId: `${id}:aside-${at}`, sessionKey }, aside, context);
    reply.sent();
    return texts;
  },
};
