import { buildMentionRegexes } from "../../channels/index.ts";
import { queueSettings } from "../../sessions/index.ts";
import { paceOf, type Pace } from "../commands/parsing/pace.ts";
import type { Group, Inbound } from "../inbound.ts";
import type { Item, Listener } from "../item.ts";
import type { ConversationDeps } from "../ports.ts";
import { joined, withoutMentions } from "./joining.ts";

/** What a previous process left. */
interface Left {
  /** The turn that it began with the messages. */
  readonly turnId?: string | undefined;
}

export type CreateItem = (messages: Group, left?: Left) => Item;

export const botOf = ({ event }: Inbound): { readonly botUsername?: string } =>
  event.mention?.botUsername === undefined ? {} : { botUsername: event.mention.botUsername };

/** Characters of a group's message that may be a stop or a quick command behind our name. */
const MOST_WITH_NAME = 300;

/** How a message stands to those before it. In groups it may name us first; a client's without rights is no command. */
function paceOfMessage(inbound: Inbound, { config, channels }: Pick<ConversationDeps, "config" | "channels">): Pace {
  const { event, text, channel, agentId, request } = inbound;
  if (request) return request.scopes === undefined ? "usual" : paceOf(text);
  if (event.chat.type === "direct") return paceOf(text, undefined, botOf(inbound).botUsername);
  const mentions = (): readonly RegExp[] => buildMentionRegexes(config.current, agentId);
  const pace = paceOf(text, mentions, botOf(inbound).botUsername);
  if (pace !== "usual" || text.length > MOST_WITH_NAME) return pace;
  // Channels have their own way to name us.
  const { BodyForCommands = "" } = withoutMentions(joined([inbound]), channels.get(channel), config.current, agentId);
  return paceOf(BodyForCommands, mentions, botOf(inbound).botUsername);
}

export function createItems(deps: ConversationDeps, listeners: { readonly client: Listener; readonly chat: Listener }): CreateItem {
  return (messages, left) => {
    const last = messages.at(-1)!;
    const { sessionKey, agentId, channel, request } = last;
    return {
      id: request?.runId ?? left?.turnId ?? deps.ids.uuid(),
      sessionKey,
      agentId,
      messages,
      ...(request ? { request } : {}),
      listener: request ? listeners.client : listeners.chat,
      isResumed: left !== undefined && (request !== undefined || left.turnId !== undefined),
      hasBegun: left?.turnId !== undefined,
      pace: messages.length === 1 && left?.turnId === undefined ? paceOfMessage(last, deps) : "usual",
      phase: request ? "waiting" : "received",
      abort: new AbortController(),
      outcome: Promise.withResolvers(),
      text: messages.map(({ text }) => text).join("\n"),
      queue: queueSettings(deps.config.current, undefined, channel),
      hooks: [],
      asides: [],
      merged: [],
    };
  };
}
