/** What a channel says about itself to the agent, from its plugin and its settings. Nothing of it was written by a sender. */
import type { ChannelFacts } from "../../agent/index.ts";
import { messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/log/logger.ts";
import { clip } from "../../base/text.ts";
import { AGENT_CAPABILITIES } from "../../channels/index.ts";
import type { OpenClawConfig } from "../../config/index.ts";
import type { ChannelPlugin } from "../../protocol/index.ts";
import type { ChannelItem } from "../lanes/item.ts";

type Message = ChannelItem["messages"][number];

const MOST_HINTS = 20;
const HINT_CHARS = 500;

export interface ChannelPlace {
  readonly plugin: ChannelPlugin | undefined;
  readonly cfg: OpenClawConfig;
  readonly log: Logger;
}

/** Asks a plugin for something that a turn can do without: its failure is logged, not the turn's. */
function asked<T>({ plugin, log }: ChannelPlace, what: string, ask: (plugin: ChannelPlugin) => T): T | undefined {
  if (!plugin) return undefined;
  try {
    return ask(plugin);
  } catch (error) {
    log.warn(`${what} of the channel ${plugin.id} failed: ${messageOf(error)}`);
    return undefined;
  }
}

/** Capabilities that the configuration names: a list, or an object with the scope of inline buttons. */
function configured({ cfg }: ChannelPlace, channel: string, accountId: string): readonly string[] {
  const section = cfg.channels?.[channel] as {
    readonly capabilities?: unknown;
    readonly accounts?: Readonly<Record<string, { readonly capabilities?: unknown }>>;
  };
  const named = section?.accounts?.[accountId]?.capabilities ?? section?.capabilities;
  return Array.isArray(named) ? named.filter((name): name is string => typeof name === "string") : [];
}

/** Undefined where the channel's plugin is not there. */
export function channelFacts(place: ChannelPlace, { channel, accountId }: Pick<Message, "channel" | "accountId">): ChannelFacts | undefined {
  const { plugin, cfg } = place;
  if (!plugin) return undefined;
  const declared = AGENT_CAPABILITIES.filter((name) => plugin.capabilities?.[name] === true);
  const canHaveButtons = plugin.actions?.supportsButtons !== undefined;
  const buttons = canHaveButtons && asked(place, "supportsButtons", ({ actions }) => actions!.supportsButtons!({ cfg, accountId })) === true;
  const hints = asked(place, "messageToolHints", ({ agentPrompt }) => agentPrompt?.messageToolHints?.({ cfg, accountId }));
  const guidance = asked(place, "reactionGuidance", ({ agentPrompt }) => agentPrompt?.reactionGuidance?.({ cfg, accountId }));
  const capabilities = [...new Set([...declared, ...(buttons ? ["inlineButtons"] : []), ...configured(place, channel, accountId)])];
  return {
    capabilities,
    ...(canHaveButtons && !capabilities.some((name) => name.toLowerCase() === "inlinebuttons") ? { buttonsOff: true } : {}),
    ...(Array.isArray(hints) && hints.length > 0 ? { hints: hints.slice(0, MOST_HINTS).map((hint) => clip(hint, HINT_CHARS)) } : {}),
    ...(guidance?.level === "minimal" || guidance?.level === "extensive" ? { reactions: guidance.level } : {}),
  };
}

/** Instructions for a chat: what the channel's plugin says about its groups, then what the configuration says about this one. */
export function chatInstructions(place: ChannelPlace, { accountId, event }: Pick<Message, "accountId" | "event">): string | undefined {
  const { chat, sender, groupSystemPrompt } = event;
  const hint =
    chat.type === "direct"
      ? undefined
      : asked(place, "resolveGroupIntroHint", ({ groups }) =>
          groups?.resolveGroupIntroHint?.({ cfg: place.cfg, groupId: chat.id, accountId, senderId: sender.id }),
        );
  return [hint?.trim(), groupSystemPrompt].filter(Boolean).join("\n\n") || undefined;
}
