/** Events of Mattermost as events for the host. */
import type { ChannelPlugin } from "openclaw/plugin-sdk";
import {
  defined,
  type Fields,
  fieldsOf,
  groupLayers,
  jsonOf,
  recordsOf,
  mediaKindOf,
  rulesOf,
  textOf,
  textsOf,
  wholeOf,
} from "openclaw/plugin-sdk/channel-kit";
import type { MattermostAccount } from "./account.ts";
import { ifThere, type MattermostApi, type Person, type Place, readChannel } from "./api.ts";
import type { Called } from "./commands.ts";

type Inbound = NonNullable<Parameters<NonNullable<NonNullable<ChannelPlugin["gateway"]>["startAccount"]>>[0]["inbound"]>;
export type InboundEvent = Parameters<Inbound["accept"]>[0];

export interface MappingDeps {
  readonly api: MattermostApi;
  readonly account: MattermostAccount;
  readonly me: Person;
}

/** An event of the socket. */
export interface Frame {
  readonly event: string;
  readonly data: Fields;
  readonly channelId: string | undefined;
}

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
/** `@name`, not as a part of a longer name. */
export const mentionPattern = (username: string): string => String.raw`(?<![\w@.-])@${escaped(username)}(?![\w-]|\.\w)`;

/** The chat of an event, and where an answer goes. A direct chat is known by the person in it. */
function chatOf(place: Place, personId: string, rootId?: string): Pick<InboundEvent, "chat" | "to" | "context"> {
  const thread = rootId === undefined ? {} : { threadId: rootId };
  if (place.type === "D") {
    const to = `user:${personId}`;
    return { chat: { type: "direct", id: personId, ...thread }, to, context: { To: to } };
  }
  const to = `channel:${place.id}`;
  const isGroup = place.type === "G";
  const title = place.title || place.name;
  const names = isGroup ? {} : { channelName: `#${place.name}`, ...(place.teamId === "" ? {} : { teamId: place.teamId }) };
  return { chat: { type: isGroup ? "group" : "channel", id: place.id, ...(title === "" ? {} : { title }), ...names, ...thread }, to, context: { To: to } };
}

async function senderOf({ api }: MappingDeps, id: string, post?: Fields): Promise<InboundEvent["sender"]> {
  const person = await ifThere(api.users.get(id));
  const props = fieldsOf(post?.["props"]) ?? {};
  // A webhook writes in the name of the person who made it: it is not them.
  const isBot = ["from_bot", "from_webhook"].some((key) => props[key] === "true" || props[key] === true);
  return defined({ id, name: person?.name || undefined, username: person?.username || undefined, isBot: isBot || undefined });
}

function mediaOf(post: Fields): InboundEvent["media"] {
  const infos = recordsOf(fieldsOf(post["metadata"])?.["files"]);
  return textsOf(post["file_ids"]).map((fileId) => {
    const info = infos.find(({ id }) => id === fileId) ?? {};
    const mimeType = textOf(info["mime_type"]);
    const kind = mimeType === undefined ? ("attachment" as const) : mediaKindOf(mimeType);
    return defined({ kind, ref: { fileId }, mimeType, fileName: textOf(info["name"]), bytes: wholeOf(info["size"]) });
  });
}

/** The text without the prefix that says it is for the bot. */
function withoutPrefix(text: string, { prefixes }: MattermostAccount): string | undefined {
  const prefix = prefixes.find((one) => text.trimStart().startsWith(one));
  return prefix === undefined ? undefined : text.trimStart().slice(prefix.length).trimStart();
}

function mentionOf(text: string, ids: readonly string[], isPrefixed: boolean, { me }: MappingDeps): InboundEvent["mention"] {
  const mentioned = isPrefixed || ids.includes(me.id) || new RegExp(mentionPattern(me.username), "iu").test(text);
  return { mentioned, others: ids.some((id) => id !== me.id), botUsername: me.username };
}

/** The message that a thread began with. */
async function rootOf({ api }: MappingDeps, rootId: string): Promise<InboundEvent["replyTo"]> {
  const root = await ifThere(api.posts.get(rootId));
  const author = textOf(root?.["user_id"]);
  const person = author === undefined ? undefined : await ifThere(api.users.get(author));
  return defined({ id: rootId, body: textOf(root?.["message"]), sender: person?.name });
}

/** A post that someone wrote. Undefined: our own, or one of the server. */
export async function messageEvent(
  post: Fields,
  place: Place,
  deps: MappingDeps,
  more: { mentions?: readonly string[]; backlog?: boolean } = {},
): Promise<InboundEvent | undefined> {
  const [id, author, rootId] = [textOf(post["id"]), textOf(post["user_id"]), textOf(post["root_id"])];
  if (id === undefined || author === undefined || author === deps.me.id || textOf(post["type"])) return undefined;
  const isDirect = place.type === "D";
  const raw = textOf(post["message"]) ?? "";
  const stripped = isDirect ? undefined : withoutPrefix(raw, deps.account);
  const rules = isDirect ? undefined : rulesOf(groupLayers(deps.account.groups, place.id));
  return defined({
    kind: "message" as const,
    id,
    ...chatOf(place, author, rootId),
    sender: await senderOf(deps, author, post),
    text: stripped ?? raw,
    at: wholeOf(post["create_at"]),
    mention: mentionOf(raw, more.mentions ?? [], stripped !== undefined, deps),
    media: mediaOf(post),
    replyTo: rootId === undefined ? undefined : await rootOf(deps, rootId),
    groupSystemPrompt: rules?.systemPrompt,
    skillFilter: rules?.skills,
    backlog: more.backlog,
  });
}

export async function editEvent(post: Fields, place: Place, deps: MappingDeps): Promise<InboundEvent | undefined> {
  // Pins and link previews change a post as well; only edits of its text have a time.
  const editedAt = wholeOf(post["edit_at"]) ?? 0;
  const event = editedAt > 0 ? await messageEvent(post, place, deps) : undefined;
  if (!event || event.text === "") return undefined;
  const { media: _media, ...rest } = event;
  return { ...rest, kind: "edit", id: `${event.id}:edit:${editedAt}`, at: editedAt, context: { ...event.context, MessageSid: event.id } };
}

async function deletedEvent(post: Fields, by: string, place: Place, deps: MappingDeps): Promise<InboundEvent | undefined> {
  const id = textOf(post["id"]);
  if (id === undefined || by === deps.me.id || textOf(post["type"])) return undefined;
  const sender = await senderOf(deps, by);
  const text = `Mattermost: ${sender.name ?? by} deleted message ${id}`;
  return { kind: "notice", id: `${id}:deleted`, ...chatOf(place, by, textOf(post["root_id"])), sender, text };
}

async function reactionEvent(reaction: Fields, isAdded: boolean, place: Place, deps: MappingDeps): Promise<InboundEvent | undefined> {
  const [by, postId, emoji] = [textOf(reaction["user_id"]), textOf(reaction["post_id"]), textOf(reaction["emoji_name"])];
  if (by === undefined || postId === undefined || emoji === undefined || by === deps.me.id) return undefined;
  const at = wholeOf(reaction["create_at"]);
  const sender = await senderOf(deps, by);
  const ref = chatOf(place, by);
  const text = `Mattermost reaction: ${sender.name ?? by} ${isAdded ? "added" : "took back"} :${emoji}: on message ${postId}`;
  const id = `${postId}:${isAdded ? "reaction" : "unreaction"}:${by}:${emoji}:${at ?? 0}`;
  return defined({ kind: "reaction" as const, id, ...ref, sender, text, at, context: { ...ref.context, ReplyToId: postId } });
}

async function memberEvent(personId: string, isIn: boolean, place: Place, deps: MappingDeps, seen: string): Promise<InboundEvent | undefined> {
  if (place.type === "D") return undefined;
  const sender = await senderOf(deps, personId);
  const who = personId === deps.me.id ? "the bot" : (sender.name ?? personId);
  return {
    kind: "member",
    id: `member:${personId}:${isIn ? "joined" : "left"}:${seen}`,
    ...chatOf(place, personId),
    sender,
    text: `Mattermost: ${who} ${isIn ? "joined" : "left"} ${place.title || place.name}`,
  };
}

const jsonFields = (value: unknown): Fields => fieldsOf(jsonOf(textOf(value) ?? "")) ?? {};

/** The event that a frame of the socket stands for. `seen` names the frame. Undefined: nothing for the host. */
export async function eventOf({ event, data, channelId }: Frame, deps: MappingDeps, seen: string): Promise<InboundEvent | undefined> {
  const { api } = deps;
  const post = jsonFields(data["post"]);
  const reaction = jsonFields(data["reaction"]);
  const where = textOf(post["channel_id"]) ?? channelId;
  if (event === "posted" && where !== undefined && textOf(data["channel_type"])) {
    const known = { id: where, type: data["channel_type"], name: data["channel_name"], display_name: data["channel_display_name"], team_id: data["team_id"] };
    api.places.set(where, readChannel(known));
  }
  const place = where === undefined ? undefined : await ifThere(api.places.get(where));
  if (!place) return undefined;
  switch (event) {
    case "posted":
      return messageEvent(post, place, deps, { mentions: textsOf(jsonOf(textOf(data["mentions"]) ?? "[]")) });
    case "post_edited":
      api.posts.set(textOf(post["id"]) ?? "", post);
      return editEvent(post, place, deps);
    case "post_deleted":
      return deletedEvent(post, textOf(data["delete_by"]) ?? textOf(post["user_id"]) ?? "", place, deps);
    case "reaction_added":
    case "reaction_removed":
      return reactionEvent(reaction, event === "reaction_added", place, deps);
    default:
      return memberEvent(textOf(data["user_id"]) ?? "", event === "user_added", place, deps, seen);
  }
}

/** Events that are read; the rest only moves the position. */
export const READ: ReadonlySet<string> = new Set(["posted", "post_edited", "post_deleted", "reaction_added", "reaction_removed", "user_added", "user_removed"]);

/** A pressed button is answered as if its value had been written. */
export async function buttonEvent(
  pressed: { readonly userId: string; readonly postId: string; readonly value: string; readonly id: string },
  deps: MappingDeps,
): Promise<InboundEvent | undefined> {
  const post = await ifThere(deps.api.posts.get(pressed.postId));
  const channelId = textOf(post?.["channel_id"]);
  const place = channelId === undefined ? undefined : await ifThere(deps.api.places.get(channelId));
  if (!post || !place || post["user_id"] !== deps.me.id) return undefined;
  const ref = chatOf(place, pressed.userId, textOf(post["root_id"]));
  return {
    kind: "button",
    id: pressed.id,
    ...ref,
    sender: await senderOf(deps, pressed.userId),
    text: pressed.value,
    mention: { mentioned: true, botUsername: deps.me.username },
    context: { ...ref.context, WasMentioned: true, MessageSid: pressed.id, ButtonMessageId: pressed.postId },
  };
}

/** A slash command, made to us alone. Undefined: in a channel that the bot is not in. */
export async function commandEvent({ id, userId, channelId, rootId, text }: Called, deps: MappingDeps): Promise<InboundEvent | undefined> {
  const place = await ifThere(deps.api.places.get(channelId));
  if (!place) return undefined;
  const ref = chatOf(place, userId, rootId);
  return {
    kind: "command",
    id,
    ...ref,
    sender: await senderOf(deps, userId),
    text,
    mention: { mentioned: true, botUsername: deps.me.username },
    context: { ...ref.context, WasMentioned: true, CommandSource: "native", MessageSid: id },
  };
}
