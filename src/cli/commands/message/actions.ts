import { AppError } from "../../../base/errors.ts";
import type { ActionFlag, ActionSpec } from "./action.ts";

const textFlag = (param: string, help: string, more: Partial<ActionFlag> = {}): ActionFlag => ({ type: "string", value: "text", help, param, ...more });
const idFlag = (param: string, help: string): ActionFlag => ({ type: "string", value: "id", help, param });
const manyFlag = (param: string, help: string): ActionFlag => ({ type: "string", value: "id", multiple: true, help, param });
const numberFlag = (param: string, help: string): ActionFlag => ({ type: "string", value: "n", help, param, as: "number" });
const jsonFlag = (param: string, help: string): ActionFlag => ({ type: "string", value: "json", help, param, as: "json" });
const switchFlag = (param: string, help: string): ActionFlag => ({ type: "boolean", help, param });

export const message = textFlag("message", "Text", { short: "m" });
const media: ActionFlag = { type: "string", value: "file", help: "File path or URL", param: "media" };
const messageId = idFlag("messageId", "Message id");
const replyTo = idFlag("replyTo", "Message id to reply to");
const threadId = idFlag("threadId", "Thread or topic id");
const limit = numberFlag("limit", "Maximum number");
const guildId = idFlag("guildId", "Server");
const channelId = idFlag("channelId", "Channel id on the server");
const userId = idFlag("userId", "Person");
const roleId = idFlag("roleId", "Role");
const silent = switchFlag("silent", "Send silently");
const before = idFlag("before", "Before this message id");
const after = idFlag("after", "After this message id");

const author = { "target-author": idFlag("targetAuthor", "Author id"), "target-author-uuid": idFlag("targetAuthorUuid", "Author uuid") };
const member = { "guild-id": guildId, "user-id": userId };
const onServer = { target: false, required: ["guild-id"] } as const;

const send: ActionSpec = {
  action: "send",
  required: [["message", "media", "buttons", "components", "card"]],
  flags: {
    message,
    media,
    "reply-to": replyTo,
    "thread-id": threadId,
    buttons: jsonFlag("buttons", "Buttons as JSON"),
    components: jsonFlag("components", "Components as JSON, where supported"),
    card: jsonFlag("card", "Card as JSON, where supported"),
    "gif-playback": switchFlag("gifPlayback", "Show a video as an animation"),
    silent,
  },
  examples: [
    { line: `openclaw message send --channel telegram --target 123456 -m "hello" --dry-run`, does: "Show what would be sent" },
    { line: `openclaw message send --channel telegram --target @alex --media ./cat.png --dry-run --json`, does: "Send a picture, output as JSON" },
  ],
};

const poll: ActionSpec = {
  action: "poll",
  required: ["poll-question", "poll-option"],
  flags: {
    "poll-question": textFlag("pollQuestion", "Question"),
    "poll-option": { type: "string", value: "text", multiple: true, help: "Option; repeat for each one (at least two)", param: "pollOption" },
    "poll-multi": switchFlag("pollMulti", "Allow multiple answers"),
    "poll-duration-hours": numberFlag("pollDurationHours", "Duration in hours"),
    "poll-duration-seconds": numberFlag("pollDurationSeconds", "Duration in seconds (Telegram: 5 to 600)"),
    "poll-anonymous": switchFlag("pollAnonymous", "Anonymous votes"),
    "poll-public": { type: "boolean", help: "Public votes", param: "pollAnonymous", as: "false" },
    silent,
    message,
    "thread-id": threadId,
  },
  examples: [
    {
      line: `openclaw message poll --channel telegram --target 123456 --poll-question "Lunch?" --poll-option yes --poll-option no --dry-run`,
      does: "Send a poll",
    },
  ],
};

const react: ActionSpec = {
  action: "react",
  required: ["message-id", ["emoji", "remove"]],
  flags: {
    "message-id": messageId,
    emoji: textFlag("emoji", "Emoji; empty removes our reaction"),
    remove: switchFlag("remove", "Remove this reaction"),
    participant: idFlag("participant", "Author of the message, in a group"),
    "from-me": switchFlag("fromMe", "The message is our own"),
    ...author,
  },
  examples: [{ line: "openclaw message react --channel telegram --target 123456 --message-id 42 --emoji 👍 --dry-run", does: "React to a message" }],
};

/** Every action, by the words of its command. The gateway reports what a channel cannot do. */
const ACTIONS: Readonly<Record<string, ActionSpec>> = {
  send,
  poll,
  react,
  reactions: { action: "reactions", required: ["message-id"], flags: { "message-id": messageId, limit } },
  read: {
    action: "read",
    flags: { limit, before, after, around: idFlag("around", "Around this message id"), "include-thread": switchFlag("includeThread", "Include threads") },
  },
  edit: { action: "edit", required: ["message-id", "message"], flags: { "message-id": messageId, message, "thread-id": threadId } },
  delete: { action: "delete", required: ["message-id"], flags: { "message-id": messageId } },
  pin: { action: "pin", required: ["message-id"], flags: { "message-id": messageId } },
  unpin: { action: "unpin", required: ["message-id"], flags: { "message-id": messageId } },
  pins: { action: "list-pins", flags: { limit } },
  permissions: { action: "permissions", flags: {} },
  search: {
    action: "search",
    target: false,
    required: ["guild-id", "query"],
    flags: {
      "guild-id": guildId,
      query: textFlag("query", "Search text"),
      "channel-id": channelId,
      "channel-ids": manyFlag("channelIds", "Channel id; repeatable"),
      "author-id": idFlag("authorId", "Author id"),
      "author-ids": manyFlag("authorIds", "Author id; repeatable"),
      limit,
    },
  },
  "thread create": {
    action: "thread-create",
    required: ["thread-name"],
    flags: {
      "thread-name": textFlag("threadName", "Name"),
      "message-id": messageId,
      message,
      "auto-archive-min": numberFlag("autoArchiveMin", "Minutes of inactivity before it is archived"),
    },
  },
  "thread list": {
    action: "thread-list",
    ...onServer,
    flags: { "guild-id": guildId, "channel-id": channelId, "include-archived": switchFlag("includeArchived", "Include archived threads"), before, limit },
  },
  "thread reply": { action: "thread-reply", required: ["message"], flags: { message, media, "reply-to": replyTo } },
  "emoji list": { action: "emoji-list", target: false, flags: { "guild-id": guildId } },
  "emoji upload": {
    action: "emoji-upload",
    target: false,
    required: ["guild-id", "emoji-name", "media"],
    flags: { "guild-id": guildId, "emoji-name": textFlag("emojiName", "Name"), media, "role-ids": manyFlag("roleIds", "Role that may use it; repeatable") },
  },
  "sticker send": { action: "sticker", required: ["sticker-id"], flags: { "sticker-id": manyFlag("stickerId", "Sticker id"), message } },
  "sticker upload": {
    action: "sticker-upload",
    target: false,
    required: ["guild-id", "sticker-name", "media"],
    flags: {
      "guild-id": guildId,
      "sticker-name": textFlag("stickerName", "Name"),
      "sticker-desc": textFlag("stickerDesc", "Description"),
      "sticker-tags": textFlag("stickerTags", "Search tags"),
      media,
    },
  },
  "role info": { action: "role-info", ...onServer, flags: { "guild-id": guildId } },
  "role add": { action: "role-add", target: false, required: ["guild-id", "user-id", "role-id"], flags: { ...member, "role-id": roleId } },
  "role remove": { action: "role-remove", target: false, required: ["guild-id", "user-id", "role-id"], flags: { ...member, "role-id": roleId } },
  "channel info": { action: "channel-info", flags: {} },
  "channel list": { action: "channel-list", ...onServer, flags: { "guild-id": guildId } },
  "member info": { action: "member-info", target: false, required: ["user-id"], flags: member },
  "voice status": { action: "voice-status", target: false, required: ["guild-id", "user-id"], flags: member },
  "event list": { action: "event-list", ...onServer, flags: { "guild-id": guildId } },
  "event create": {
    action: "event-create",
    target: false,
    required: ["guild-id", "event-name", "start-time"],
    flags: {
      "guild-id": guildId,
      "event-name": textFlag("eventName", "Name"),
      "start-time": textFlag("startTime", "Start time"),
      "end-time": textFlag("endTime", "End time"),
      desc: textFlag("desc", "Description"),
      "channel-id": channelId,
      location: textFlag("location", "Location"),
      "event-type": textFlag("eventType", "stage, external or voice"),
    },
  },
  timeout: {
    action: "timeout",
    target: false,
    required: ["guild-id", "user-id"],
    flags: { ...member, "duration-min": numberFlag("durationMin", "Minutes"), until: textFlag("until", "End time"), reason: textFlag("reason", "Reason") },
  },
  kick: { action: "kick", target: false, required: ["guild-id", "user-id"], flags: { ...member, reason: textFlag("reason", "Reason") } },
  ban: {
    action: "ban",
    target: false,
    required: ["guild-id", "user-id"],
    flags: { ...member, reason: textFlag("reason", "Reason"), "delete-days": numberFlag("deleteDays", "Days of messages to delete") },
  },
};

export function actionOf(name: string): ActionSpec {
  const spec = ACTIONS[name];
  if (!spec) throw new AppError("INTERNAL", `no action has the name ${JSON.stringify(name)}`);
  return spec;
}
