/** Messages of a channel as the agent gets them. */
import type { ChannelFacts, TurnInput } from "../../agent/index.ts";
import { messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/log/logger.ts";
import { clip } from "../../base/text.ts";
import { AGENT_CAPABILITIES, effectiveChannelConfig, formatSenderLabel } from "../../channels/index.ts";
import type { OpenClawConfig } from "../../config/index.ts";
import type { ChannelPlugin, HostConfig, SessionEntry } from "../../protocol/index.ts";
import { chatFields, deliveryPatch } from "../../sessions/index.ts";
import type { Store } from "../../store/index.ts";
import { inboundOf, traceOf, type Inbound } from "../inbound.ts";
import { messageContext } from "../intake/message-context.ts";
import { inputsOf, lastMessage, type Turn } from "../item.ts";
import type { ConversationDeps, KeptMedia } from "../ports.ts";
import { mediaLine, messageText, stableFacts, type HistoryLine } from "./message-text.ts";

const DEFAULT_LIMIT = 50;
const MOST = 500;
const MAX_BODY = 2000;

function limitOf(cfg: HostConfig, { channel, accountId }: Inbound): number {
  const own = effectiveChannelConfig(cfg, channel, accountId)["historyLimit"];
  const general = (cfg.messages?.["groupChat"] as { readonly historyLimit?: unknown } | undefined)?.historyLimit;
  const limit = [own, general].find((value): value is number => typeof value === "number" && Number.isInteger(value) && value >= 0) ?? DEFAULT_LIMIT;
  return Math.min(limit, MOST);
}

/** What was written in the group since its last turn and was not for us, oldest first. */
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

interface Files {
  readonly kept: readonly KeptMedia[];
  readonly lines: readonly string[];
}

/** Fetches the files of the messages. One that cannot be fetched does not keep the message from being answered: the model gets a note. */
async function filesOf({ keepMedia, log }: ConversationDeps, { items, main }: Turn): Promise<Files> {
  const kept: KeptMedia[] = [];
  const lines: string[] = [];
  for (const { channel, accountId, event } of items.flatMap(({ messages }) => messages)) {
    if (!event.media?.length) continue;
    if (!keepMedia) lines.push("[media: this gateway cannot fetch files]");
    else {
      try {
        const found = await keepMedia({ channel, accountId, media: event.media }, main.abort.signal);
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

/** What the messages tell of their session. Groups have sessions of their own. */
function entryFieldsOf(last: Inbound, entry: SessionEntry | undefined): Readonly<Record<string, unknown>> {
  const { channel, accountId, to, threadId } = last.address;
  return { ...chatFields(messageContext(last), entry), ...deliveryPatch({ channel, accountId, to, ...(threadId === undefined ? {} : { threadId }) }) };
}

/** A channel that says nothing about itself is taken to know its messages by their ids. */
function namesMessages(plugin: ReturnType<ConversationDeps["channels"]["get"]>): boolean {
  const { reply, reactions, edit, unsend } = plugin?.capabilities ?? {};
  return plugin === undefined || reply === true || reactions === true || edit === true || unsend === true;
}

const MOST_HINTS = 20;
const HINT_CHARS = 500;

interface ChannelSettings {
  readonly plugin: ChannelPlugin | undefined;
  readonly cfg: OpenClawConfig;
  readonly log: Logger;
}

/** Asks a plugin for something that a turn can do without: its failure is logged, not the turn's. */
function asked<T>({ plugin, log }: ChannelSettings, what: string, ask: (plugin: ChannelPlugin) => T): T | undefined {
  if (!plugin) return undefined;
  try {
    return ask(plugin);
  } catch (error) {
    log.warn(`${what} of the channel ${plugin.id} failed: ${messageOf(error)}`);
    return undefined;
  }
}

/** Capabilities that the configuration names: a list, or an object with the scope of inline buttons. */
function configured({ cfg }: ChannelSettings, channel: string, accountId: string): readonly string[] {
  const section = cfg.channels?.[channel] as {
    readonly capabilities?: unknown;
    readonly accounts?: Readonly<Record<string, { readonly capabilities?: unknown }>>;
  };
  const named = section?.accounts?.[accountId]?.capabilities ?? section?.capabilities;
  return Array.isArray(named) ? named.filter((name): name is string => typeof name === "string") : [];
}

/** Undefined where the channel's plugin is not there. */
function channelFacts(settings: ChannelSettings, { channel, accountId }: Pick<Inbound, "channel" | "accountId">): ChannelFacts | undefined {
  const { plugin, cfg } = settings;
  if (!plugin) return undefined;
  const declared = AGENT_CAPABILITIES.filter((name) => plugin.capabilities?.[name] === true);
  const canHaveButtons = plugin.actions?.supportsButtons !== undefined;
  const buttons = canHaveButtons && asked(settings, "supportsButtons", ({ actions }) => actions!.supportsButtons!({ cfg, accountId })) === true;
  const hints = asked(settings, "messageToolHints", ({ agentPrompt }) => agentPrompt?.messageToolHints?.({ cfg, accountId }));
  const guidance = asked(settings, "reactionGuidance", ({ agentPrompt }) => agentPrompt?.reactionGuidance?.({ cfg, accountId }));
  const capabilities = [...new Set([...declared, ...(buttons ? ["inlineButtons"] : []), ...configured(settings, channel, accountId)])];
  return {
    capabilities,
    ...(canHaveButtons && !capabilities.some((name) => name.toLowerCase() === "inlinebuttons") ? { buttonsOff: true } : {}),
    ...(Array.isArray(hints) && hints.length > 0 ? { hints: hints.slice(0, MOST_HINTS).map((hint) => clip(hint, HINT_CHARS)) } : {}),
    ...(guidance?.level === "minimal" || guidance?.level === "extensive" ? { reactions: guidance.level } : {}),
  };
}

/** Instructions for a chat: what the channel's plugin says about its groups, then what the configuration says about this one. */
function chatInstructions(settings: ChannelSettings, { accountId, event }: Pick<Inbound, "accountId" | "event">): string | undefined {
  const { chat, sender, groupSystemPrompt } = event;
  const hint =
    chat.type === "direct"
      ? undefined
      : asked(settings, "resolveGroupIntroHint", ({ groups }) =>
          groups?.resolveGroupIntroHint?.({ cfg: settings.cfg, groupId: chat.id, accountId, senderId: sender.id }),
        );
  return [hint?.trim(), groupSystemPrompt].filter(Boolean).join("\n\n") || undefined;
}

/** One or more messages of a channel as the agent gets them. */
export async function channelInput(deps: ConversationDeps, turn: Turn, entry: SessionEntry | undefined): Promise<TurnInput> {
  const { main, items, summarised } = turn;
  const last = lastMessage(main);
  const cfg = deps.config.current;
  const [history, files] = await Promise.all([historyOf(deps.store, cfg, items[0].messages[0]), filesOf(deps, turn)]);
  const contexts = items.map((item) => messageContext(lastMessage(item)));
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
  const settings = { plugin: deps.channels.get(last.channel), cfg, log: deps.log };
  const [facts, instructions] = [channelFacts(settings, last), chatInstructions(settings, last)];
  return {
    runId: main.id,
    traceId: traceOf(last),
    sessionKey: main.sessionKey,
    agentId: main.agentId,
    message,
    channel: last.channel,
    accountId: last.accountId,
    chatId: chat.id,
    senderId: sender.id,
    // Whatever one of them may not, the turn may not.
    owner: [...items, ...summarised].every(({ messages }) => messages.every(({ access }) => access.owner)),
    direct: chat.type === "direct",
    inbound: stableFacts(last),
    inboxIds: inputsOf(turn),
    resumed: main.isResumed,
    entryFields: entryFieldsOf(last, entry),
    ...(facts ? { channelFacts: facts } : {}),
    ...(instructions === undefined ? {} : { systemPrompt: instructions }),
    ...(images.length === 0 ? {} : { images }),
    ...(thinking === undefined ? {} : { thinking }),
    ...(model === undefined ? {} : { model }),
    ...(skillFilter === undefined ? {} : { skillFilter }),
  };
}
