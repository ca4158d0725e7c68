/** What can be done to messages and threads. */
import { type Fields, fieldsOf, listOf, numberOf, textOf, unfit, reactionParam } from "openclaw/plugin-sdk/channel-kit";
import { componentsOf } from "../send/components.ts";
import { post, type Sender } from "../send/sender.ts";
import { sendMedia } from "../send/media.ts";
import { editMessage, MAX_TEXT, sendPoll, sendText } from "../send/text.ts";
import { askPermissions } from "../status.ts";
import { brief, channelIn, guildIn, type Handler, idIn, need, number, rows, text, texts } from "./params.ts";

/** In an address: a sign as it is, an emoji of a server as `name:id`. */
export const emojiPath = (emoji: string): string =>
  encodeURIComponent(
    emoji
      .trim()
      .replace(/^<a?:(\w+:\d+)>$/, "$1")
      .replaceAll("\uFE0F", ""),
  );

const reactionPath = (channelId: string, messageId: string): string => `/channels/${channelId}/messages/${messageId}/reactions`;

/** An empty emoji takes all of ours away. */
export async function setReaction(sender: Sender, channelId: string, messageId: string, emoji: string, signal?: AbortSignal): Promise<string[]> {
  const path = reactionPath(channelId, messageId);
  if (emoji !== "") {
    await sender.rest.call("PUT", `${path}/${emojiPath(emoji)}/@me`, { signal });
    return [];
  }
  const message = await sender.rest.fields("GET", `/channels/${channelId}/messages/${messageId}`, { signal });
  const ours = rows(message["reactions"]).flatMap((reaction) => (reaction["me"] === true ? [nameOfEmoji(reaction["emoji"])] : []));
  for (const name of ours) await sender.rest.call("DELETE", `${path}/${encodeURIComponent(name)}/@me`, { signal, isPatient: true });
  return ours;
}

function nameOfEmoji(raw: unknown): string {
  const emoji = fieldsOf(raw);
  const [id, name] = [textOf(emoji?.["id"]), textOf(emoji?.["name"]) ?? ""];
  return id === undefined ? name : `${name}:${id}`;
}

const react: Handler = async (sender, ctx) => {
  const { emoji, remove, isEmpty } = reactionParam(ctx);
  const channelId = await channelIn(sender, ctx);
  const messageId = idIn(ctx, "the message", "messageId");
  if (isEmpty) return { ok: true, removed: await setReaction(sender, channelId, messageId, "") };
  if (!remove) return setReaction(sender, channelId, messageId, emoji).then(() => ({ ok: true, added: emoji }));
  await sender.rest.call("DELETE", `${reactionPath(channelId, messageId)}/${emojiPath(emoji)}/@me`, { isPatient: true });
  return { ok: true, removed: [emoji] };
};

const MAX_REACTORS = 100;

const reactions: Handler = async (sender, ctx) => {
  const channelId = await channelIn(sender, ctx);
  const messageId = idIn(ctx, "the message", "messageId");
  const message = await sender.rest.fields("GET", `/channels/${channelId}/messages/${messageId}`);
  const limit = Math.min(number(ctx, "limit") ?? MAX_REACTORS, MAX_REACTORS);
  const found = await Promise.all(
    rows(message["reactions"]).map(async (reaction) => {
      const name = nameOfEmoji(reaction["emoji"]);
      const users = rows(await sender.rest.call("GET", `${reactionPath(channelId, messageId)}/${encodeURIComponent(name)}`, { query: { limit } }));
      return { emoji: name, count: reaction["count"], users: users.map(({ id, username }) => ({ id, username })) };
    }),
  );
  return { ok: true, reactions: found };
};

const read: Handler = async (sender, ctx) => {
  const channelId = await channelIn(sender, ctx);
  const query = {
    limit: Math.min(Math.max(number(ctx, "limit") ?? 20, 1), 100),
    before: text(ctx, "before"),
    after: text(ctx, "after"),
    around: text(ctx, "around"),
  };
  const found = rows(await sender.rest.call("GET", `/channels/${channelId}/messages`, { query }));
  return { ok: true, messages: found.map(brief) };
};

const edit: Handler = async (sender, ctx) => {
  const words = need(ctx, "the new text", "message", "text");
  if (words.length > MAX_TEXT) throw unfit("edit", `a Discord message has at most ${MAX_TEXT} characters, this one has ${words.length}`);
  const messageId = idIn(ctx, "the message", "messageId");
  const edited = await editMessage(sender, {
    channelId: await channelIn(sender, ctx),
    messageId,
    text: words,
    components: componentsOf({ buttons: ctx.params["buttons"] }),
  });
  if (!edited) throw unfit("edit", `message ${messageId} cannot be edited: it was deleted or is not from this bot`);
  return { ok: true, messageId, channelId: edited.channelId };
};

const remove: Handler = async (sender, ctx) => {
  const messageId = idIn(ctx, "the message", "messageId");
  await sender.rest.call("DELETE", `/channels/${await channelIn(sender, ctx)}/messages/${messageId}`, { reason: text(ctx, "reason"), isPatient: true });
  return { ok: true, deleted: messageId };
};

const pinned =
  (method: "PUT" | "DELETE"): Handler =>
  async (sender, ctx) => {
    const messageId = idIn(ctx, "the message", "messageId");
    await sender.rest.call(method, `/channels/${await channelIn(sender, ctx)}/messages/pins/${messageId}`, { isPatient: true });
    return { ok: true, [method === "PUT" ? "pinned" : "unpinned"]: messageId };
  };

const listPins: Handler = async (sender, ctx) => {
  const answer = await sender.rest.fields("GET", `/channels/${await channelIn(sender, ctx)}/messages/pins`);
  return { ok: true, pins: rows(answer["items"]).map((item) => brief(fieldsOf(item["message"]) ?? {})) };
};

const permissions: Handler = async (sender, ctx) => {
  const channelId = await channelIn(sender, ctx);
  return { ok: true, channelId, ...(await askPermissions(sender.rest, channelId)) };
};

const FORUMS: ReadonlySet<unknown> = new Set([15, 16]);
const PUBLIC_THREAD = 11;

/** From a message, or by itself; in a forum a thread is a post and needs a text. */
const createThread: Handler = async (sender, ctx) => {
  const channelId = await channelIn(sender, ctx);
  const name = need(ctx, "the name to use", "threadName", "name").slice(0, 100);
  const archive = number(ctx, "autoArchiveMin");
  const base = { name, ...(archive === undefined ? {} : { auto_archive_duration: archive }) };
  const words = text(ctx, "message", "text");
  const channel = await sender.rest.fields("GET", `/channels/${channelId}`);
  const isForum = FORUMS.has(numberOf(channel["type"]));
  const from = isForum || ctx.params["messageId"] === undefined ? undefined : idIn(ctx, "the message", "messageId");
  const path = from === undefined ? `/channels/${channelId}/threads` : `/channels/${channelId}/messages/${from}/threads`;
  const opening = { ...base, message: { content: words ?? name, allowed_mentions: { parse: ["users"] } } };
  const json = isForum ? opening : from === undefined ? { ...base, type: PUBLIC_THREAD } : base;
  const thread = await sender.rest.fields("POST", path, { json, isPatient: true });
  const threadId = textOf(thread["id"]) ?? "";
  if (words !== undefined && !isForum) await post(sender, { to: `channel:${threadId}` }, { text: words.slice(0, MAX_TEXT) });
  return { ok: true, threadId, name: thread["name"] };
};

const listThreads: Handler = async (sender, ctx) => {
  const channelId = await channelIn(sender, ctx);
  const answer =
    ctx.params["includeArchived"] === true
      ? await sender.rest.fields("GET", `/channels/${channelId}/threads/archived/public`, { query: { limit: Math.min(number(ctx, "limit") ?? 50, 100) } })
      : await sender.rest.fields("GET", `/guilds/${await guildIn(sender, ctx)}/threads/active`);
  const found = rows(answer["threads"]).filter((thread) => thread["parent_id"] === channelId);
  return { ok: true, threads: found.map(({ id, name, parent_id: parentId, message_count: messages }) => ({ id, name, parentId, messages })) };
};

const send: Handler = async (sender, ctx) => {
  const to = text(ctx, "to", "target", "channelId") ?? ctx.toolContext?.currentChannelId;
  if (!to) throw unfit(ctx.action, "no recipient: set to, such as channel:123456789012345678 or user:123456789012345678");
  const mediaUrl = text(ctx, "media", "mediaUrl", "path", "filePath");
  const words = text(ctx, "message", "text", "caption") ?? "";
  if (words === "" && mediaUrl === undefined) throw unfit(ctx.action, "nothing to send: set message or media");
  if (words.length > MAX_TEXT) throw unfit(ctx.action, `a Discord message has at most ${MAX_TEXT} characters, this one has ${words.length}`);
  const options = {
    cfg: ctx.cfg,
    accountId: ctx.accountId,
    to,
    text: words,
    threadId: text(ctx, "threadId"),
    replyToId: text(ctx, "replyTo"),
    silent: ctx.params["silent"] === true,
  };
  const components = componentsOf({ buttons: ctx.params["buttons"], components: ctx.params["components"] });
  const sent =
    mediaUrl === undefined
      ? await sendText(sender, options, components)
      : await sendMedia(sender, { ...options, mediaUrl, mediaLocalRoots: ctx.mediaLocalRoots }, components);
  return { ok: true, messageId: sent.messageId, channelId: sent.channelId };
};

const poll: Handler = async (sender, ctx) => {
  const hours = number(ctx, "pollDurationHours");
  const options = texts(ctx, "pollOption");
  const sent = await sendPoll(sender, {
    cfg: ctx.cfg,
    to: text(ctx, "to", "target") ?? ctx.toolContext?.currentChannelId ?? "",
    threadId: text(ctx, "threadId"),
    poll: {
      question: need(ctx, "the question", "pollQuestion"),
      options,
      maxSelections: ctx.params["pollMulti"] === true ? options.length : 1,
      ...(hours === undefined ? {} : { durationHours: hours }),
    },
  });
  return { ok: true, ...sent };
};

const search: Handler = async (sender, ctx) => {
  const query = {
    content: need(ctx, "what to look for", "query", "message"),
    author_id: text(ctx, "authorId"),
    channel_id: texts(ctx, "channelIds")[0],
    limit: Math.min(number(ctx, "limit") ?? 25, 25),
  };
  const answer = await sender.rest.fields("GET", `/guilds/${await guildIn(sender, ctx)}/messages/search`, { query });
  const found = listOf(answer["messages"]).flatMap((hit) => rows(Array.isArray(hit) ? hit : [hit]));
  return { ok: true, total: answer["total_results"], messages: found.map((message: Fields) => brief(message)) };
};

const sticker: Handler = async (sender, ctx) => {
  const ids = [...texts(ctx, "stickerId"), ...(typeof ctx.params["stickerId"] === "string" ? [ctx.params["stickerId"]] : [])];
  const unique = [...new Set(ids)];
  if (unique.length === 0 || unique.length > 3) throw unfit("sticker", `a message has 1 to 3 stickers, not ${unique.length}: set stickerId`);
  const to = text(ctx, "to", "target") ?? ctx.toolContext?.currentChannelId ?? "";
  const sent = await post(sender, { to, threadId: text(ctx, "threadId") }, { text: text(ctx, "message"), more: { sticker_ids: unique } });
  return { ok: true, messageId: sent.id };
};

export const MESSAGE_ACTIONS = {
  send,
  poll,
  react,
  reactions,
  read,
  edit,
  delete: remove,
  pin: pinned("PUT"),
  unpin: pinned("DELETE"),
  "list-pins": listPins,
  permissions,
  "thread-create": createThread,
  "thread-list": listThreads,
  "thread-reply": send,
  search,
  sticker,
} as const satisfies Record<string, Handler>;
