/** From the inbox to a lane: plugins, joining, commands, policies. */
import { messageOf } from "../../base/errors.ts";
import { finalizeInboundContext } from "../../channels/index.ts";
import { agentOfKey, type FinalizedMsgContext } from "../../protocol/index.ts";
import { queueSettings, sendPolicy } from "../../sessions/index.ts";
import { aborted, closeUnanswered, commitEnd, failed, type Closing } from "../closing.ts";
import type { CommandCall, CommandVerdict } from "../commands/commands.ts";
import type { Responder } from "../contract.ts";
import { clientMessage, isOperator, type ClientRequest, type Decided } from "../inbound.ts";
import { endingOf, type CreateItem, type Item, type OpenItems } from "../items.ts";
import { createSerial } from "../lanes.ts";
import { hear, isUnnamed, mayBeSpokenCommand, spokenContext } from "./hearing.ts";
import { createJoining, createOrder } from "./joining.ts";
import { asksPlugins, createPluginHooks, joined, messageContext, withoutMentions, type PluginHooks, type PluginVerdict } from "./message-context.ts";
import type { ConversationContext, ConversationDeps } from "../ports.ts";
import { EXAMINATION_GIVEN_UP, EXAMINED_TOO_OFTEN, type Attempts } from "./attempts.ts";

/**
 * Finds out what becomes of messages on disk. Those of one chat, or of one session of clients, go through in their order; a stop overtakes all of them, a
 * quick command those that take long.
 */
export interface Examination {
  add(item: Item): void;
  /**
   * The same for an item that a previous process left. `isNew`: no turn was begun with it, and plugins may claim it. Resolves when later ones cannot
   * overtake it any more; never rejects.
   */
  addAgain(item: Item, isNew: boolean): Promise<void>;
  readonly stopCommand: NonNullable<Responder["stopCommand"]>;
  /** Resolves when no item is being examined. */
  idle(): Promise<void>;
}

interface ExaminationDeps {
  readonly context: ConversationContext;
  readonly open: OpenItems;
  readonly attempts: Attempts;
  readonly createItem: CreateItem;
  /** Puts an item into its session's lane. */
  enqueue(item: Item): void;
  /** The process ends first: the item is on disk for the next. */
  leave(item: Item): void;
}

const STOPPED = "stopped by a command";
const FAILED = "Something went wrong before this could be answered. Please try again.";

/** Whether a text may hold a command or a setting, or may be a word that stops what runs. */
const mayBeCommand = (text: string): boolean => /(?:^|\s)[/!]|^\s*\w+\s*$/.test(text.slice(0, 10_000));

/** A client's message as a command. Only messages that name their sender's rights are looked at. */
function clientCall(request: Omit<ClientRequest, "inboxId">, abort: Pick<AbortController, "signal">, tookLong?: () => void): CommandCall | undefined {
  const { scopes, message, sessionKey, agentId, channel, runId, owner = false } = request;
  if (scopes === undefined || !mayBeCommand(message)) return undefined;
  const authorized = isOperator(scopes);
  const ctx = finalizeInboundContext({
    Body: message,
    RawBody: message,
    CommandBody: message,
    SessionKey: sessionKey,
    Provider: channel,
    Surface: channel,
    OriginatingChannel: channel,
    ChatType: "direct",
    MessageSid: runId,
    CommandSource: "text",
    CommandAuthorized: authorized,
    GatewayClientScopes: [...scopes],
  });
  return {
    ctx,
    messageKey: `run:${runId}`,
    sessionKey,
    agentId,
    channel,
    accountId: "default",
    isGroup: false,
    authorized,
    owner,
    scopes,
    source: "text",
    canAnswerAside: true,
    wasMentioned: true,
    ...(tookLong ? { tookLong } : {}),
    // Most texts are no command: the signal is made for those that are.
    get signal() {
      return abort.signal;
    },
  };
}

/** A channel's message as a command. */
function channelCall(item: Item, ctx: FinalizedMsgContext, tookLong: () => void): CommandCall {
  const { id, event, access, sessionKey, agentId, channel, accountId } = item.last;
  const botUsername = event.mention?.botUsername;
  return {
    ctx,
    sessionKey,
    agentId,
    channel,
    accountId,
    senderId: event.sender.id,
    ...(event.sender.otherIds ? { otherSenderIds: event.sender.otherIds.map(String) } : {}),
    isGroup: event.chat.type !== "direct",
    authorized: access.commandAuthorized,
    owner: access.owner,
    source: event.kind === "command" ? "native" : "text",
    canAnswerAside: true,
    wasMentioned: access.wasMentioned,
    messageKey: `inbox:${id}`,
    ...(botUsername === undefined ? {} : { botUsername }),
    tookLong,
    get signal() {
      return item.abort.signal;
    },
  };
}

/** Persists what was decided. Not waited for: writes are committed in order, so it is on disk before the turn is. */
function persistDecided({ store, log }: ConversationDeps, item: Item): void {
  const { text, thinking, hints, hooks: answers, ack, request, inboxIds } = item;
  const last = item.last.id;
  const decided: Decided = {
    last,
    ...(request?.message === text ? {} : { text }),
    ...(item.isSpoken ? { spoken: true } : {}),
    ...(thinking === undefined ? {} : { thinking }),
    ...(hints === undefined ? {} : { hints }),
    ...(answers.length === 0 ? {} : { hooks: answers }),
    ...(ack ? { ack: true } : {}),
  };
  const inputs = inboxIds.map((id) => ({ id, decided: id === last ? decided : { last } }));
  store.write("inbox.decide", { inputs }).catch((error: unknown) => log.warn(`what plugins decided could not be stored: ${messageOf(error)}`, { last }));
}

const withText = (request: ClientRequest, message = request.message): ClientRequest => ({ ...request, message });

function contextOf(item: Item, spoken: string | undefined): FinalizedMsgContext {
  const ctx = joined(item.messages);
  return spoken === undefined ? ctx : spokenContext(ctx, spoken);
}

async function endSilently(deps: ConversationDeps, open: OpenItems, item: Item, why: string): Promise<void> {
  await commitEnd(deps, endingOf(item), { outcome: "silent", why, result: SILENT, writes: [], hooks: item.hooks });
  open.end(item, SILENT);
}

/** The examination of one item: claim, command, policy, `before_dispatch`, lane. */
function createExamine({ context, open, enqueue }: ExaminationDeps, plugins: PluginHooks) {
  const { deps } = context;
  const { store, config, commands, channels, hooks } = deps;
  const log = deps.log.subsystem("conversation");

  async function close(item: Item, closing: Closing): Promise<void> {
    open.end(item, await closeUnanswered(endingOf(item), closing, context));
  }

  async function answer(item: Item, { reply, outcome, why }: PluginVerdict): Promise<void> {
    // A command that was stopped before it had an answer is an aborted run.
    if (item.request && item.abort.aborted && outcome === "cancelled") return close(item, aborted(item, why));
    open.end(item, await item.listener.answer(endingOf(item), { reply, outcome, why, hooks: item.hooks }, context));
  }

  /** True: a plugin took the item. */
  async function claimed(item: Item): Promise<boolean> {
    const verdict = await plugins.claimed(item);
    if (verdict) await answer(item, verdict);
    return verdict !== undefined;
  }

  /** Whether answers may be sent in the session. What a client wrote was checked when it was accepted, unless a command left something else of it. */
  async function isLetThrough(item: Item, verdict: CommandVerdict | undefined): Promise<boolean> {
    const { sessionKey, request } = item;
    const { channel } = item.last;
    const entry = (await store.read("sessions.get", { key: sessionKey }))?.entry;
    item.queue = queueSettings(config.current, entry, channel);
    if (request && (!verdict || item.text === request.message)) return true;
    const { allowed, source } = sendPolicy(config.current, sessionKey, entry, channel);
    if (allowed) return true;
    if (request) await close(item, failed("send blocked by session policy"));
    else await endSilently(deps, open, item, `session.sendPolicy: sending is off for this session (${source})`);
    return false;
  }

  async function examine(item: Item, tookLong: () => void): Promise<void> {
    const { request, agentId, abort, last } = item;
    if (abort.aborted) return close(item, aborted(item, STOPPED));
    // What a previous process heard has passed.
    const isNew = item.isSpoken !== true;
    const spoken = item.messages.some(({ event }) => event.media?.length) ? await hear(deps, item, tookLong) : undefined;
    if (isNew && isUnnamed(item, config.current))
      return endSilently(deps, open, item, "the recording does not mention the agent, and the group requires a mention");
    const ctx = request ? undefined : withoutMentions(contextOf(item, spoken), channels.get(last.channel), config.current, agentId);
    const isPlain = spoken === undefined ? item.isPlain : !mayBeSpokenCommand(item, spoken);
    // The model is not shown how the channel names us.
    if (ctx && isPlain) item.text = ctx.BodyForCommands ?? item.text;
    const call = isPlain ? undefined : ctx ? channelCall(item, ctx, tookLong) : request && clientCall(withText(request, spoken), abort, tookLong);
    const verdict = call && (await commands.run(call));
    if (verdict?.kind === "answered") return answer(item, verdict);
    if (abort.aborted) return close(item, aborted(item, STOPPED));
    if (verdict) {
      item.text = verdict.text;
      item.thinking = verdict.thinking;
      item.hints = verdict.hints;
    }
    if (verdict && verdict.asides.length > 0) item.asides = await item.listener.sendAsides(item, verdict.asides, context);
    if (!(await isLetThrough(item, verdict))) return;
    // No one wrote what the gateway reports itself: plugins are not asked about it.
    if (request?.kind === undefined) {
      if (hooks.has("before_dispatch")) {
        const text = await plugins.dispatched(item, ctx ?? messageContext({ ...last, text: item.text }));
        if (typeof text !== "string") return answer(item, text);
        if (abort.aborted) return close(item, aborted(item, STOPPED));
        item.text = text;
      }
      if (!request && last.event.kind === "message" && channels.get(last.channel)?.reactions) {
        const { markSeen } = await context.loadReply();
        item.ack = markSeen(deps, last);
      }
      // Neither a plugin's decision nor the reaction happens again after a restart.
      if (item.ack || item.isSpoken || asksPlugins(deps)) persistDecided(deps, item);
    }
    // The lane did not know of it when it was stopped, and would have it wait for more messages.
    if (abort.aborted) return close(item, aborted(item, STOPPED));
    enqueue(item);
  }

  /** One that cannot be examined does not hold up the others, and a command that failed does not become a prompt. */
  async function safely(item: Item, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      const why = messageOf(error);
      log.error(`a message could not be processed: ${why}`, { runId: item.id, inbox: item.inboxIds, error });
      await close(item, failed(why, FAILED)).catch((second: unknown) => {
        log.error(`the outcome of a message could not be saved: ${messageOf(second)}`, { error: second });
        open.end(item, { status: "error", error: why });
      });
    }
  }

  return { claimed, examine, close, safely };
}

const SILENT = { status: "ok", text: "", sessionId: "", durationMs: 0, silent: true } as const;

/** A stop of a client that becomes no run. Plugins are notified about the message; nothing that they do can hold it up. */
async function runStopCommand(
  { deps }: ConversationContext,
  plugins: PluginHooks,
  request: Parameters<Examination["stopCommand"]>[0],
): Promise<readonly string[] | undefined> {
  const agentId = agentOfKey(request.sessionKey, { defaultAgentId: deps.defaultAgentId() });
  const asked = { ...request, runId: deps.ids.uuid(), agentId };
  plugins.received(clientMessage({ ...asked, inboxId: 0 }, deps.clock.now()));
  const call = clientCall(asked, new AbortController());
  const verdict = call && (await deps.commands.run(call));
  return verdict?.kind === "answered" ? (verdict.stopped ?? []) : undefined;
}

export function createExamination(all: ExaminationDeps): Examination {
  const { context, open, attempts, createItem, leave } = all;
  const { hooks, commands, clock, config, untilPlugins } = context.deps;
  const log = context.deps.log.subsystem("conversation");
  const plugins = createPluginHooks(context.deps);
  const { claimed, examine, close, safely } = createExamine(all, plugins);
  const claims = createSerial();
  const order = createOrder();
  const joining = createJoining({ clock, config }, ([first, ...others]) => examineInOrder(others.length === 0 ? first : joinItems(first, others)));

  function joinItems(first: Item, others: readonly Item[]): Item {
    const one = createItem([...first.messages, ...others.flatMap(({ messages }) => messages)]);
    one.hooks = [first, ...others].flatMap((item) => item.hooks);
    open.replace([first, ...others], one);
    return one;
  }

  function examineInOrder(item: Item): void {
    item.phase = "waiting";
    const run = async (tookLong: () => void): Promise<void> => {
      item.phase = "examined";
      const long = (): void => {
        item.phase = "long";
        tookLong();
      };
      await safely(item, () => examine(item, long));
      if (attempts.open.size > 0) attempts.passed(item.inboxIds);
    };
    if (item.pace === "stop") void run(() => {});
    else order.add(item.line, { isQuick: item.pace === "quick", run });
  }

  /** A client's messages are whole. */
  function join(item: Item): void {
    if (item.request) return examineInOrder(item);
    const [{ text, event }] = item.messages;
    const botUsername = event.mention?.botUsername;
    joining.add(item, !item.isPlain && commands.isControl(text, botUsername === undefined ? {} : { botUsername }));
  }

  /** A plugin may take it: that is asked before anything else happens with it. */
  async function offer(item: Item): Promise<void> {
    let isTaken = true;
    await safely(item, async () => void (isTaken = await claimed(item)));
    if (isTaken) attempts.passed(item.inboxIds);
    else join(item);
  }

  /** `isNew`: no turn was begun with it. */
  function begin(item: Item, isNew: boolean): void {
    // No one wrote what the gateway reports itself.
    if (!isNew || item.request?.kind !== undefined || item.abort.aborted) return examineInOrder(item);
    if (asksPlugins(context.deps)) plugins.received(item.messages[0]);
    if (!hooks.has("inbound_claim")) return join(item);
    // A stop does not wait for what plugins think about earlier messages.
    if (item.pace === "stop") void offer(item);
    else claims.queue(item.line, () => offer(item));
  }

  async function addAgain(item: Item, isNew: boolean): Promise<void> {
    const ids = item.inboxIds;
    try {
      await untilPlugins?.();
    } catch {
      return leave(item);
    }
    const isLetIn = await attempts.begin(ids).catch((error: unknown) => {
      log.error(`the attempts of a message could not be counted: ${messageOf(error)}`, { inbox: ids, error });
      return true;
    });
    if (isLetIn) return begin(item, isNew);
    await safely(item, () => close(item, failed(EXAMINED_TOO_OFTEN, EXAMINATION_GIVEN_UP)));
    attempts.passed(ids);
  }

  return {
    add(item) {
      const waiting = untilPlugins?.();
      if (!waiting) return begin(item, true);
      waiting.then(
        () => begin(item, true),
        () => leave(item),
      );
    },
    addAgain,
    stopCommand: (request) => runStopCommand(context, plugins, request),
    idle: order.idle,
  };
}
