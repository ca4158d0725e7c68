import type { TurnInput } from "../../agent/index.ts";
import { messageOf } from "../../base/errors.ts";
import type { HostConfig, SessionEntry } from "../../protocol/index.ts";
import { chatFields, deliveryPatch } from "../../sessions/index.ts";
import { traceOfMessage } from "../intake/inbound-hooks.ts";
import { messageContext } from "../intake/message-context.ts";
import type { ChannelItem } from "../lanes/item.ts";
import type { ConversationDeps, KeptMedia } from "../ports.ts";
import { channelFacts, chatInstructions } from "./channel-facts.ts";
import { mediaLine, messageText, stableFacts, type HistoryLine } from "./message-text.ts";
import { effectiveChannelConfig, formatSenderLabel } from "../../channels/index.ts";
import type { Store } from "../../store/index.ts";
import { inboundOf, type Inbound } from "../intake/inbound-record.ts";

const DEFAULT_LIMIT = 50;
const MOST = 500;
const MAX_BODY = 2000;

function limitOf(cfg: HostConfig, { channel, accountId }: Inbound): number {
  const own = effectiveChannelConfig(cfg, channel, accountId)["historyLimit"];
  const general = (cfg.messages?.["groupChat"] as { readonly historyLimit?: unknown } | undefined)?.historyLimit;
  const limit = [own, general].find((value): value is number => typeof value === "number" && Number.isInteger(value) && value >= 0) ?? DEFAULT_LIMIT;
  return Math.min(limit, MOST);
}

/** What was said in the group since its last turn and was not for us, oldest first. */
async function historyOf(store: Pick<Store, "read">, cfg: HostConfig, first: Inbound): Promise<readonly HistoryLine[]> {
  if (first.event.chat.type === "direct") return [];
  const limit = limitOf(cfg, first);
  if (limit === 0) return [];
  const { channel, accountId: account, conversation } = first;
  const rows = await store.read("inbox.ofConversation", { channel, account, conversation, before: first.id, limit });
  const end = rows.findIndex(({ outcome, kind, state }) => kind === "message" && !(state === "settled" && (outcome === "silent" || outcome === "refused")));
  const since = end === -1 ? rows : rows.slice(0, end);
  return since
    .filter(({ outcome, kind, text }) => outcome === "silent" && kind === "message" && text !== "")
    .flatMap((row) => {
      const inbound = inboundOf(row);
      if (!inbound) return [];
      return [{ sender: formatSenderLabel(inbound.event.sender) ?? "?", body: row.text.slice(0, MAX_BODY), timestamp: inbound.event.at ?? row.receivedAt }];
    })
    .toReversed();
}

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
