/** Who wrote, and where. */
import { defined, type Fields, fieldsOf, rulesOf, textOf } from "openclaw/plugin-sdk/channel-kit";
import { type DiscordAccount, layersOf } from "../account.ts";
import type { ChannelInboundEvent, ChannelInboundSender } from "../types.ts";
import { type GuildFacts, isThread, type Place, rolesOf, TYPE } from "./places.ts";

/** An event that is not what the API promises. */
export class MalformedEvent extends Error {
  override readonly name = "MalformedEvent";
}

/** A channel with what is around it. */
export interface Surroundings {
  readonly place: Place;
  /** The channel that a thread is in. */
  readonly parent: Place | undefined;
  readonly guild: GuildFacts | undefined;
  /** The server's name, where the configuration may use it. */
  readonly guildSlug?: string | undefined;
}

export interface ChatRef {
  readonly chat: ChannelInboundEvent["chat"];
  readonly to: string;
  readonly context: Record<string, unknown>;
  readonly rules: Pick<ChannelInboundEvent, "groupSystemPrompt" | "skillFilter">;
  readonly layers: readonly Fields[];
}

const MAX_TOPIC = 500;

export const nameOf = (user: Fields | undefined, member?: Fields): string | undefined =>
  textOf(member?.["nick"]) ?? textOf(user?.["global_name"]) ?? textOf(user?.["username"]);

export function senderOf(raw: unknown, member: unknown): ChannelInboundSender | undefined {
  const user = fieldsOf(raw);
  const id = textOf(user?.["id"]);
  if (user === undefined || id === undefined) return undefined;
  const username = textOf(user["username"]);
  const number = textOf(user["discriminator"]);
  return defined({
    id,
    name: nameOf(user, fieldsOf(member)),
    username,
    tag: username === undefined ? undefined : number === undefined || number === "0" ? username : `${username}#${number}`,
    roles: rolesOf(member),
    isBot: user["bot"] === true ? true : undefined,
  });
}

/** A direct message goes to the person, whatever channel it came by. */
export function chatRefOf({ place, parent, guild, guildSlug }: Surroundings, senderId: string, account: DiscordAccount): ChatRef {
  if (place.type === TYPE.direct) {
    const to = `user:${senderId}`;
    return { chat: { type: "direct", id: place.id }, to, context: { From: `discord:${senderId}`, To: to }, rules: {}, layers: [] };
  }
  const to = `channel:${place.id}`;
  if (place.guildId === undefined) {
    const chat = defined({ type: "group" as const, id: place.id, title: place.name });
    return { chat, to, context: { From: `discord:group:${place.id}`, To: to }, rules: {}, layers: [] };
  }
  const isInside = isThread(place);
  const name = (isInside ? parent : place)?.name;
  const layers = layersOf(account, { guildId: place.guildId, guildSlug, channelId: place.id, parentId: isInside ? place.parentId : undefined, name });
  const { systemPrompt, skills } = rulesOf(layers);
  const label = isInside && place.name !== undefined ? { ThreadLabel: `thread #${parent?.name ?? "channel"} › ${place.name}` } : {};
  return {
    chat: defined({
      type: "channel" as const,
      id: place.id,
      title: place.name,
      channelName: place.name === undefined ? undefined : `#${place.name}`,
      space: guild?.name ?? place.guildId,
      guildId: place.guildId,
      guildSlug,
      parentId: isInside ? place.parentId : undefined,
      parentName: isInside && parent?.name !== undefined ? `#${parent.name}` : undefined,
      isForum: parent?.type === TYPE.forum || parent?.type === TYPE.media ? true : undefined,
    }),
    to,
    context: { From: `discord:channel:${place.id}`, To: to, ...label },
    rules: defined({ groupSystemPrompt: systemPrompt, skillFilter: skills }),
    layers,
  };
}

/** What the channel says about itself: other people's words. */
export const topicOf = ({ place, parent }: Surroundings): string[] | undefined => {
  const topic = (isThread(place) ? parent : place)?.topic?.trim();
  return topic ? [`Discord channel topic: ${topic.slice(0, MAX_TOPIC)}`] : undefined;
};
