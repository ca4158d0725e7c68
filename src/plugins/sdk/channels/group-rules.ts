/** Mentions and tools in groups of the channels that everybody knows. Discord and Slack keep their rooms in maps of their own. */
import type { ChannelGroupContext, ConfigSection, GroupToolPolicyConfig } from "../../../protocol/index.ts";
import { accountSection, channelSection, normalizeAccountId, recordOf } from "../account-ids.ts";
import { normalizeChannelSlug } from "../values/channel-entries.ts";
import { type ChannelGroupConfig, resolveChannelGroupRequireMention, resolveChannelGroupToolsPolicy, resolveToolsBySender } from "../access/groups.ts";
import { resolveSlackAccount } from "./accounts.ts";

type RequireMention = (params: ChannelGroupContext) => boolean;
type ToolPolicy = (params: ChannelGroupContext) => GroupToolPolicyConfig | undefined;

const requireMentionIn =
  (channel: string): RequireMention =>
  (params) =>
    resolveChannelGroupRequireMention({ ...params, channel });

const toolsIn =
  (channel: string): ToolPolicy =>
  (params) =>
    resolveChannelGroupToolsPolicy({ ...params, channel });

export const resolveBlueBubblesGroupRequireMention = requireMentionIn("bluebubbles");
export const resolveBlueBubblesGroupToolPolicy = toolsIn("bluebubbles");
export const resolveIMessageGroupRequireMention = requireMentionIn("imessage");
export const resolveIMessageGroupToolPolicy = toolsIn("imessage");
export const resolveWhatsAppGroupRequireMention = requireMentionIn("whatsapp");
export const resolveWhatsAppGroupToolPolicy = toolsIn("whatsapp");
export const resolveGoogleChatGroupRequireMention = requireMentionIn("googlechat");
export const resolveGoogleChatGroupToolPolicy = toolsIn("googlechat");

/** `<chat>:topic:<topic>`. */
function telegramPlace(groupId: string | null | undefined): { chatId: string | undefined; topicId: string | undefined } {
  const [, chatId, topicId] = /^(?:telegram:|group:)*(.+?)(?::(?:topic:)?(\d+))?$/.exec(groupId?.trim() ?? "") ?? [];
  return { chatId, topicId };
}

/** A topic's setting, then its group's. */
export const resolveTelegramGroupRequireMention: RequireMention = (params) => {
  const { chatId, topicId } = telegramPlace(params.groupId);
  const groups = recordOf(channelSection(params.cfg, "telegram")?.["groups"]);
  for (const key of [chatId, "*"]) {
    const topic = topicId && key ? recordOf(recordOf(recordOf(groups?.[key])?.["topics"])?.[topicId]) : undefined;
    if (typeof topic?.["requireMention"] === "boolean") return topic["requireMention"];
  }
  return resolveChannelGroupRequireMention({ ...params, channel: "telegram", groupId: chatId ?? params.groupId });
};

export const resolveTelegramGroupToolPolicy: ToolPolicy = (params) =>
  resolveChannelGroupToolsPolicy({ ...params, channel: "telegram", groupId: telegramPlace(params.groupId).chatId ?? params.groupId });

/** The first of the names that the map has, then its wildcard. */
function roomIn(rooms: ConfigSection | undefined, ...names: readonly (string | null | undefined)[]): ChannelGroupConfig | undefined {
  const key = names.find((name) => name && rooms && Object.hasOwn(rooms, name));
  return recordOf(rooms?.[key ?? "*"]);
}

function roomNames({ groupId, groupChannel }: ChannelGroupContext): string[] {
  const name = groupChannel?.trim().replace(/^#/, "");
  return [groupId?.trim(), name && `#${name}`, name, name && normalizeChannelSlug(name)].flatMap((text) => (text ? [text] : []));
}

const slugOf = (value: unknown) => (typeof value === "string" ? normalizeChannelSlug(value) : undefined);

/** A server by id or by its name's slug, and the room in it. */
function discordRooms(params: ChannelGroupContext): (ChannelGroupConfig | undefined)[] {
  const own = accountSection(params.cfg, "discord", normalizeAccountId(params.accountId))?.["guilds"];
  const guilds = recordOf(own) ?? recordOf(channelSection(params.cfg, "discord")?.["guilds"]);
  const space = params.groupSpace?.trim();
  const slug = space ? normalizeChannelSlug(space) : undefined;
  const bySlug = slug ? Object.keys(guilds ?? {}).find((key) => slugOf(recordOf(guilds?.[key])?.["slug"]) === slug) : undefined;
  const guild = roomIn(guilds, space, slug, bySlug);
  return [roomIn(recordOf(guild?.["channels"]), ...roomNames(params)), guild];
}

const slackRooms = (params: ChannelGroupContext) => [roomIn(resolveSlackAccount(params).channels, ...roomNames(params))];

const mentionRule =
  (rooms: (params: ChannelGroupContext) => (ChannelGroupConfig | undefined)[]): RequireMention =>
  (params) =>
    rooms(params).find((room) => typeof room?.requireMention === "boolean")?.requireMention ?? true;

const toolRule =
  (rooms: (params: ChannelGroupContext) => (ChannelGroupConfig | undefined)[]): ToolPolicy =>
  (params) => {
    for (const room of rooms(params)) {
      const found = resolveToolsBySender({ ...params, toolsBySender: room?.toolsBySender }) ?? room?.tools;
      if (found) return found;
    }
    return undefined;
  };

export const resolveDiscordGroupRequireMention = mentionRule(discordRooms);
export const resolveDiscordGroupToolPolicy = toolRule(discordRooms);
export const resolveSlackGroupRequireMention = mentionRule(slackRooms);
export const resolveSlackGroupToolPolicy = toolRule(slackRooms);
