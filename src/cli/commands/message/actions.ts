import { AppError } from "../../../base/errors.ts";
import type { ActionFlag, ActionSpec } from "./action.ts";

const textFlag = (param: string, help: string, more: Partial<ActionFlag> = {}): ActionFlag => ({ type: "string", value: "text", help, param, ...more });
const idFlag = (param: string, help: string): ActionFlag => ({ type: "string", value: "id", help, param });
const manyFlag = (param: string, help: string): ActionFlag => ({ type: "string", value: "id", multiple: true, help, param });
const numberFlag = (param: string, help: string): ActionFlag => ({ type: "string", value: "n", help, param, as: "number" });
const jsonFlag = (param: string, help: string): ActionFlag => ({ type: "string", value: "json", help, param, as: "json" });
const switchFlag = (param: string, help: string): ActionFlag => ({ type: "boolean", help, param });

export const message = textFlag("message", "the text", { short: "m" });
const media: ActionFlag = { type: "string", value: "file", help: "address or path of a file", param: "media" };
const messageId = idFlag("messageId", "the message");
const replyTo = idFlag("replyTo", "the message that is answered");
const threadId = idFlag("threadId", "thread or topic");
const limit = numberFlag("limit", "how many");
const guildId = idFlag("guildId", "server");
const channelId = idFlag("channelId", "channel on the server");
const userId = idFlag("userId", "person");
const roleId = idFlag("roleId", "role");
const silent = switchFlag("silent", "without a sound");
const before = idFlag("before", "older than this message");
const after = idFlag("after", "newer than this message");

const author = { "target-author": idFlag("targetAuthor", "who wrote it"), "target-author-uuid": idFlag("targetAuthorUuid", "who wrote it, by uuid") };
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
    buttons: jsonFlag("buttons", "rows of buttons"),
    components: jsonFlag("components", "components, where the channel has them"),
    card: jsonFlag("card", "a card, where the channel has them"),
    "gif-playback": switchFlag("gifPlayback", "show a video as an animation"),
    silent,
  },
  examples: [
    { line: `openclaw message send --channel telegram --target 123456 -m "hello" --dry-run`, does: "what would be sent to whom" },
    { line: `openclaw message send --channel telegram --target @alex --media ./cat.png --dry-run --json`, does: "a picture, for machines" },
  ],
};

const poll: ActionSpec = {
  action: "poll",
  required: ["poll-question", "poll-option"],
  flags: {
    "poll-question": textFlag("pollQuestion", "the question"),
    "poll-option": { type: "string", value: "text", multiple: true, help: "an option; give it at least twice", param: "pollOption" },
    "poll-multi": switchFlag("pollMulti", "several answers are allowed"),
    "poll-duration-hours": numberFlag("pollDurationHours", "how long it is open"),
    "poll-duration-seconds": numberFlag("pollDurationSeconds", "the same in seconds (Telegram: 5 to 600)"),
    "poll-anonymous": switchFlag("pollAnonymous", "nobody sees who chose what"),
    "poll-public": { type: "boolean", help: "everybody sees who chose what", param: "pollAnonymous", as: "false" },
    silent,
    message,
    "thread-id": threadId,
  },
  examples: [
    {
      line: `openclaw message poll --channel telegram --target 123456 --poll-question "Lunch?" --poll-option yes --poll-option no --dry-run`,
      does: "ask a group",
    },
  ],
};

const react: ActionSpec = {
  action: "react",
  required: ["message-id", ["emoji", "remove"]],
  flags: {
    "message-id": messageId,
    emoji: textFlag("emoji", "the reaction; empty takes ours away"),
    remove: switchFlag("remove", "take this reaction away"),
    participant: idFlag("participant", "who wrote the message, in a group"),
    "from-me": switchFlag("fromMe", "the message is ours"),
    ...author,
  },
  examples: [{ line: "openclaw message react --channel telegram --target 123456 --message-id 42 --emoji 👍 --dry-run", does: "react to a message" }],
};

/** Every action, by the words of its command. The gateway reports what a channel cannot do. */
const ACTIONS: Readonly<Record<string, ActionSpec>> = {
  send,
  poll,
  react,
  reactions: { action: "reactions", required: ["message-id"], flags: { "message-id": messageId, limit } },
  read: {
    action: "read",
    flags: { limit, before, after, around: idFlag("around", "around this message"), "include-thread": switchFlag("includeThread", "threads, too") },
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
      query: textFlag("query", "what to look for"),
      "channel-id": channelId,
      "channel-ids": manyFlag("channelIds", "several channels"),
      "author-id": idFlag("authorId", "who wrote it"),
      "author-ids": manyFlag("authorIds", "several people"),
      limit,
    },
  },
  "thread create": {
    action: "thread-create",
    required: ["thread-name"],
    flags: {
      "thread-name": textFlag("threadName", "its name"),
      "message-id": messageId,
      message,
      "auto-archive-min": numberFlag("autoArchiveMin", "minutes of silence until it is put away"),
    },
  },
  "thread list": {
    action: "thread-list",
    ...onServer,
    flags: { "guild-id": guildId, "channel-id": channelId, "include-archived": switchFlag("includeArchived", "those put away, too"), before, limit },
  },
  "thread reply": { action: "thread-reply", required: ["message"], flags: { message, media, "reply-to": replyTo } },
  "emoji list": { action: "emoji-list", target: false, flags: { "guild-id": guildId } },
  "emoji upload": {
    action: "emoji-upload",
    target: false,
    required: ["guild-id", "emoji-name", "media"],
    flags: { "guild-id": guildId, "emoji-name": textFlag("emojiName", "its name"), media, "role-ids": manyFlag("roleIds", "who may use it") },
  },
  "sticker send": { action: "sticker", required: ["sticker-id"], flags: { "sticker-id": manyFlag("stickerId", "the sticker"), message } },
  "sticker upload": {
    action: "sticker-upload",
    target: false,
    required: ["guild-id", "sticker-name", "media"],
    flags: {
      "guild-id": guildId,
      "sticker-name": textFlag("stickerName", "its name"),
      "sticker-desc": textFlag("stickerDesc", "what it shows"),
      "sticker-tags": textFlag("stickerTags", "words to find it by"),
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
      "event-name": textFlag("eventName", "its name"),
      "start-time": textFlag("startTime", "when it begins"),
      "end-time": textFlag("endTime", "when it ends"),
      desc: textFlag("desc", "what it is about"),
      "channel-id": channelId,
      location: textFlag("location", "where it is"),
      "event-type": textFlag("eventType", "stage, external or voice"),
    },
  },
  timeout: {
    action: "timeout",
    target: false,
    required: ["guild-id", "user-id"],
    flags: { ...member, "duration-min": numberFlag("durationMin", "minutes"), until: textFlag("until", "until when"), reason: textFlag("reason", "why") },
  },
  kick: { action: "kick", target: false, required: ["guild-id", "user-id"], flags: { ...member, reason: textFlag("reason", "why") } },
  ban: {
    action: "ban",
    target: false,
    required: ["guild-id", "user-id"],
    flags: { ...member, reason: textFlag("reason", "why"), "delete-days": numberFlag("deleteDays", "days of messages to delete") },
  },
};

export function actionOf(name: string): ActionSpec {
  const spec = ACTIONS[name];
  if (!spec) throw new AppError("INTERNAL", `no action has the name ${JSON.stringify(name)}`);
  return spec;
}
