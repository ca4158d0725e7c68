import type { TurnInput } from "../../agent/index.ts";
import { messageOf } from "../../base/errors.ts";
import type { SessionEntry } from "../../protocol/index.ts";
import { chatFields, deliveryPatch } from "../../sessions/index.ts";
import { traceOfMessage } from "../intake/inbound-hooks.ts";
import { messageContext } from "../intake/message-context.ts";
import type { ChannelItem } from "../lanes/item.ts";
import type { ConversationDeps, KeptMedia } from "../ports.ts";
import { channelFacts, chatInstructions } from "./channel-facts.ts";
import { historyOf } from "./history.ts";
import { mediaLine, messageText, stableFacts } from "./message-text.ts";

interface Asked {
  readonly runId: string;
  readonly items: readonly [ChannelItem, ...ChannelItem[]];
  readonly summarised: readonly ChannelItem[];
  readonly resumed: boolean;
  readonly signal: AbortSignal;
  readonly entry: SessionEntry | undefined;
}

interface Files {
  readonly kept: readonly KeptMedia[];
  readonly lines: readonly string[];
}

/** Fetches the files of the messages. One that cannot be had does not keep the message from being answered: the model is told. */
async function filesOf({ keepMedia, log }: ConversationDeps, { items, signal }: Asked): Promise<Files> {
  const kept: KeptMedia[] = [];
  const lines: string[] = [];
  for (const { channel, accountId, event } of items.flatMap(({ messages }) => messages)) {
    if (!event.media?.length) continue;
    if (!keepMedia) lines.push("[media: this gateway cannot fetch files]");
    else {
      try {
        const found = await keepMedia({ channel, accountId, media: event.media }, signal);
        kept.push(...found.kept);
        lines.push(...found.kept.map(mediaLine), ...found.problems.map((problem) => `[media: ${problem}]`));
      } catch (error) {
        log.warn(`files of a message could not be fetched: ${messageOf(error)}`, { channel, accountId });
        lines.push("[media: the files of this message could not be fetched]");
      }
    }
  }
  return { kept, lines };
}

/** What the messages tell of their session. A group's talk in the main session would lead answers astray, but those have sessions of their own. */
function entryFieldsOf({ entry, items }: Asked): Readonly<Record<string, unknown>> {
  const last = items.at(-1)!.messages.at(-1)!;
  const { channel, accountId, to, threadId } = last.address;
  return { ...chatFields(messageContext(last), entry), ...deliveryPatch({ channel, accountId, to, ...(threadId === undefined ? {} : { threadId }) }) };
}

/** A channel that says nothing about itself is taken to know its messages by their ids. */
function namesMessages(plugin: ReturnType<ConversationDeps["channels"]["get"]>): boolean {
  const { reply, reactions, edit, unsend } = plugin?.capabilities ?? {};
  return plugin === undefined || reply === true || reactions === true || edit === true || unsend === true;
}

/** One or more messages of a channel as the agent gets them. */
export async function channelInput(deps: ConversationDeps, asked: Asked): Promise<TurnInput> {
  const { items, runId, resumed, entry, summarised } = asked;
  const first = items[0];
  const last = items.at(-1)!.messages.at(-1)!;
  const cfg = deps.config.current;
  const [history, files] = await Promise.all([historyOf(deps.store, cfg, first.messages[0]), filesOf(deps, asked)]);
  const contexts = items.map(({ messages }) => messageContext(messages.at(-1)!));
  // Of a plugin that reads messages by itself: it keeps what was not for us.
  const told = (contexts.at(-1)!.InboundHistory ?? []).map(({ sender: by, body, timestamp = last.receivedAt }) => ({ sender: by, body, timestamp }));
  const previousAt = typeof entry?.updatedAt === "number" ? entry.updatedAt : undefined;
  const message = messageText(items, contexts, {
    cfg,
    history: [...history, ...told],
    mediaLines: files.lines,
    summarised,
    namesMessages: namesMessages(deps.channels.get(last.channel)),
    ...(previousAt === undefined ? {} : { previousAt }),
  });
  const images = files.kept.flatMap(({ image }) => (image ? [image] : []));
  const thinking = items.findLast((item) => item.thinking !== undefined)?.thinking;
  const model = items.findLast((item) => item.hints?.model !== undefined)?.hints?.model;
  const { skillFilter, sender, chat } = last.event;
  const place = { plugin: deps.channels.get(last.channel), cfg, log: deps.log };
  const [facts, instructions] = [channelFacts(place, last), chatInstructions(place, last)];
  return {
    runId,
    traceId: traceOfMessage(last),
    sessionKey: first.sessionKey,
    agentId: first.agentId,
    message,
    channel: last.channel,
    accountId: last.accountId,
    chatId: chat.id,
    senderId: sender.id,
    // Whatever one of them may not, the turn may not.
    owner: [...items, ...summarised].every(({ messages }) => messages.every(({ access }) => access.owner)),
    direct: chat.type === "direct",
    inbound: stableFacts(last),
    inboxIds: [...summarised, ...items].flatMap(({ messages }) => messages.map(({ id }) => id)),
    resumed,
    entryFields: entryFieldsOf(asked),
    ...(facts ? { channelFacts: facts } : {}),
    ...(instructions === undefined ? {} : { systemPrompt: instructions }),
    ...(images.length === 0 ? {} : { images }),
    ...(thinking === undefined ? {} : { thinking }),
    ...(model === undefined ? {} : { model }),
    ...(skillFilter === undefined ? {} : { skillFilter }),
  };
}
