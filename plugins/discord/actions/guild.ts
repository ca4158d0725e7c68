/** What can be done in a server: people, roles, emoji, channels, events, and keeping order. */
import { fieldsOf, loadOutgoingFiles, numberOf, type OutgoingFile, unfit } from "openclaw/plugin-sdk/channel-kit";
import type { Sender } from "../send/sender.ts";
import { channelIn, type Context, guildIn, type Handler, idIn, need, number, rows, text } from "./params.ts";

const memberInfo: Handler = async (sender, ctx) => {
  const member = await sender.rest.fields("GET", `/guilds/${await guildIn(sender, ctx)}/members/${idIn(ctx, "the person", "userId", "participant")}`);
  const user = fieldsOf(member["user"]);
  return {
    ok: true,
    member: {
      id: user?.["id"],
      username: user?.["username"],
      name: user?.["global_name"],
      nick: member["nick"],
      roles: member["roles"],
      joinedAt: member["joined_at"],
    },
  };
};

const roleInfo: Handler = async (sender, ctx) => {
  const roles = rows(await sender.rest.call("GET", `/guilds/${await guildIn(sender, ctx)}/roles`));
  const wanted = text(ctx, "roleId");
  const found = wanted === undefined ? roles : roles.filter(({ id }) => id === wanted);
  return { ok: true, roles: found.map(({ id, name, position, permissions, managed }) => ({ id, name, position, permissions, managed })) };
};

const memberRole =
  (method: "PUT" | "DELETE"): Handler =>
  async (sender, ctx) => {
    const path = `/guilds/${await guildIn(sender, ctx)}/members/${idIn(ctx, "the person", "userId")}/roles/${idIn(ctx, "the role", "roleId")}`;
    await sender.rest.call(method, path, { reason: text(ctx, "reason"), isPatient: true });
    return { ok: true };
  };

const emojiList: Handler = async (sender, ctx) => {
  const emojis = rows(await sender.rest.call("GET", `/guilds/${await guildIn(sender, ctx)}/emojis`));
  return { ok: true, emojis: emojis.map(({ id, name, animated }) => ({ id, name, animated })) };
};

const EMOJI_BYTES = 256 * 1024;
const STICKER_BYTES = 512 * 1024;

/** A picture that is scaled until it is small enough. */
async function pictureIn(ctx: Context, maxBytes: number): Promise<OutgoingFile> {
  const mediaUrl = need(ctx, "the image, a path or URL", "media", "path", "filePath");
  const rules = { channel: "discord", platform: "Discord", image: { maxBytes }, document: { maxBytes } };
  const { files } = await loadOutgoingFiles({ cfg: ctx.cfg, accountId: ctx.accountId, text: "", mediaUrl, mediaLocalRoots: ctx.mediaLocalRoots }, rules);
  return files[0];
}

const emojiUpload: Handler = async (sender, ctx) => {
  const name = need(ctx, "the name to use", "emojiName", "name");
  const file = await pictureIn(ctx, EMOJI_BYTES);
  if (!/^image\/(?:png|jpeg|gif|webp)$/.test(file.mimeType)) throw unfit("emoji-upload", `an emoji is a PNG, JPEG, GIF or WebP, not ${file.mimeType}`);
  const image = `data:${file.mimeType};base64,${Buffer.from(file.data).toString("base64")}`;
  const emoji = await sender.rest.fields("POST", `/guilds/${await guildIn(sender, ctx)}/emojis`, { json: { name, image, roles: [] }, isPatient: true });
  return { ok: true, emoji: { id: emoji["id"], name: emoji["name"] } };
};

const stickerUpload: Handler = async (sender, ctx) => {
  const file = await pictureIn(ctx, STICKER_BYTES);
  const parts = {
    name: need(ctx, "the name to use", "stickerName", "name"),
    description: text(ctx, "stickerDesc", "desc") ?? "",
    tags: need(ctx, "a related emoji", "stickerTags"),
    file,
  };
  const sticker = await sender.rest.fields("POST", `/guilds/${await guildIn(sender, ctx)}/stickers`, { parts, isPatient: true });
  return { ok: true, sticker: { id: sticker["id"], name: sticker["name"] } };
};

const TYPES: Readonly<Record<string, number>> = { text: 0, voice: 2, category: 4, announcement: 5, stage: 13, forum: 15, media: 16 };
const CATEGORY = 4;

const briefChannel = (channel: Readonly<Record<string, unknown>>): Record<string, unknown> => ({
  id: channel["id"],
  name: channel["name"],
  type: channel["type"],
  topic: channel["topic"],
  parentId: channel["parent_id"],
  position: channel["position"],
});

const channelInfo: Handler = async (sender, ctx) => ({
  ok: true,
  channel: briefChannel(await sender.rest.fields("GET", `/channels/${await channelIn(sender, ctx)}`)),
});

const channelList: Handler = async (sender, ctx) => {
  const channels = rows(await sender.rest.call("GET", `/guilds/${await guildIn(sender, ctx)}/channels`));
  return { ok: true, channels: channels.map(briefChannel) };
};

/** The keys of a channel that were given. */
function channelKeys(ctx: Context): Record<string, unknown> {
  const { params } = ctx;
  const [topic, parent, position, slow] = [text(ctx, "topic"), text(ctx, "parentId", "categoryId"), number(ctx, "position"), number(ctx, "rateLimitPerUser")];
  return {
    ...(topic === undefined ? {} : { topic }),
    ...(params["clearParent"] === true ? { parent_id: null } : parent === undefined ? {} : { parent_id: parent }),
    ...(position === undefined ? {} : { position }),
    ...(slow === undefined ? {} : { rate_limit_per_user: slow }),
    ...(typeof params["nsfw"] === "boolean" ? { nsfw: params["nsfw"] } : {}),
  };
}

const create =
  (fixed?: number): Handler =>
  async (sender, ctx) => {
    const written = ctx.params["type"];
    const type = fixed ?? (typeof written === "string" ? TYPES[written.toLowerCase()] : numberOf(written)) ?? 0;
    const json = { name: need(ctx, "the name to use", "name"), type, ...channelKeys(ctx) };
    return { ok: true, channel: briefChannel(await sender.rest.fields("POST", `/guilds/${await guildIn(sender, ctx)}/channels`, { json, isPatient: true })) };
  };

/** A category is named by its own key; anything else would change the channel that the agent is in. */
const namedChannel = async (sender: Sender, ctx: Context): Promise<string> =>
  ctx.action.startsWith("category-") ? idIn(ctx, "the category", "categoryId", "channelId") : channelIn(sender, ctx);

const change: Handler = async (sender, ctx) => {
  const name = text(ctx, "name");
  const keys = channelKeys(ctx);
  if (ctx.action === "category-edit") delete keys["parent_id"];
  const json = { ...(name === undefined ? {} : { name }), ...keys };
  if (Object.keys(json).length === 0) throw unfit(ctx.action, "nothing to change: set name, topic, position, parentId, nsfw or rateLimitPerUser");
  return { ok: true, channel: briefChannel(await sender.rest.fields("PATCH", `/channels/${await namedChannel(sender, ctx)}`, { json, isPatient: true })) };
};

const drop: Handler = async (sender, ctx) => {
  const isHere = text(ctx, "channelId") === undefined && text(ctx, "to") === ctx.toolContext?.currentChannelId;
  // The chat that the agent is in comes along by itself: it has to be named to be deleted.
  if (isHere && ctx.action === "channel-delete") throw unfit(ctx.action, "channel-delete needs channelId: the channel to delete");
  const id = ctx.action.startsWith("category-") ? await namedChannel(sender, ctx) : idIn(ctx, "the channel to delete", "channelId", "to");
  await sender.rest.call("DELETE", `/channels/${id}`, { reason: text(ctx, "reason"), isPatient: true });
  return { ok: true, deleted: id };
};

const move: Handler = async (sender, ctx) => {
  const id = await channelIn(sender, ctx);
  const { parent_id: parentId, position } = channelKeys(ctx);
  if (parentId === undefined && position === undefined) throw unfit("channel-move", "no destination: set parentId or position");
  const json = [{ id, ...(position === undefined ? {} : { position }), ...(parentId === undefined ? {} : { parent_id: parentId }) }];
  await sender.rest.call("PATCH", `/guilds/${await guildIn(sender, ctx)}/channels`, { json, isPatient: true });
  return { ok: true, moved: id };
};

const voiceStatus: Handler = async (sender, ctx) => {
  const path = `/guilds/${await guildIn(sender, ctx)}/voice-states/${idIn(ctx, "the person", "userId", "participant")}`;
  const { channel_id: channelId, mute, deaf, self_mute: selfMute } = await sender.rest.fields("GET", path);
  return { ok: true, voice: { channelId, mute, deaf, selfMute } };
};

const eventList: Handler = async (sender, ctx) => {
  const events = rows(await sender.rest.call("GET", `/guilds/${await guildIn(sender, ctx)}/scheduled-events`));
  return {
    ok: true,
    events: events.map(({ id, name, description, scheduled_start_time: start, scheduled_end_time: end }) => ({ id, name, description, start, end })),
  };
};

const ENTITY: Readonly<Record<string, number>> = { stage: 1, voice: 2, external: 3 };
const HOUR_MS = 3_600_000;

const eventCreate: Handler = async (sender, ctx) => {
  const start = new Date(need(ctx, "when it starts, such as 2026-01-31T18:00:00Z", "startTime"));
  if (Number.isNaN(start.getTime())) throw unfit("event-create", "startTime must be a time such as 2026-01-31T18:00:00Z");
  const type = ENTITY[text(ctx, "eventType")?.toLowerCase() ?? "external"] ?? 3;
  const end = text(ctx, "endTime") ?? new Date(start.getTime() + HOUR_MS).toISOString();
  const json = {
    name: need(ctx, "the name to use", "eventName", "name"),
    description: text(ctx, "desc"),
    privacy_level: 2,
    scheduled_start_time: start.toISOString(),
    entity_type: type,
    ...(type === 3
      ? { scheduled_end_time: end, entity_metadata: { location: text(ctx, "location") ?? "Discord" } }
      : { channel_id: idIn(ctx, "the voice channel", "channelId") }),
  };
  const event = await sender.rest.fields("POST", `/guilds/${await guildIn(sender, ctx)}/scheduled-events`, { json, isPatient: true });
  return { ok: true, event: { id: event["id"], name: event["name"] } };
};

const MAX_TIMEOUT_MIN = 28 * 24 * 60;

const timeout: Handler = async (sender, ctx) => {
  const userId = idIn(ctx, "the person", "userId");
  const minutes = number(ctx, "durationMin");
  const until =
    text(ctx, "until") ?? (minutes === undefined || minutes <= 0 ? null : new Date(Date.now() + Math.min(minutes, MAX_TIMEOUT_MIN) * 60_000).toISOString());
  const json = { communication_disabled_until: until };
  await sender.rest.call("PATCH", `/guilds/${await guildIn(sender, ctx)}/members/${userId}`, { json, reason: text(ctx, "reason"), isPatient: true });
  return { ok: true, until };
};

const kick: Handler = async (sender, ctx) => {
  const userId = idIn(ctx, "the person", "userId");
  await sender.rest.call("DELETE", `/guilds/${await guildIn(sender, ctx)}/members/${userId}`, { reason: text(ctx, "reason"), isPatient: true });
  return { ok: true, kicked: userId };
};

const DAY_S = 86_400;

const ban: Handler = async (sender, ctx) => {
  const userId = idIn(ctx, "the person", "userId");
  const days = Math.min(Math.max(number(ctx, "deleteDays") ?? 0, 0), 7);
  const json = { delete_message_seconds: days * DAY_S };
  await sender.rest.call("PUT", `/guilds/${await guildIn(sender, ctx)}/bans/${userId}`, { json, reason: text(ctx, "reason"), isPatient: true });
  return { ok: true, banned: userId };
};

export const GUILD_ACTIONS = {
  "member-info": memberInfo,
  "role-info": roleInfo,
  "role-add": memberRole("PUT"),
  "role-remove": memberRole("DELETE"),
  "emoji-list": emojiList,
  "emoji-upload": emojiUpload,
  "sticker-upload": stickerUpload,
  "channel-info": channelInfo,
  "channel-list": channelList,
  "channel-create": create(),
  "channel-edit": change,
  "channel-delete": drop,
  "channel-move": move,
  "category-create": create(CATEGORY),
  "category-edit": change,
  "category-delete": drop,
  "voice-status": voiceStatus,
  "event-list": eventList,
  "event-create": eventCreate,
  timeout,
  kick,
  ban,
} as const satisfies Record<string, Handler>;
