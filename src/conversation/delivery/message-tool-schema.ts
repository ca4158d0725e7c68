/** What the `message` tool takes. Names are the documented ones; a channel reads those that it knows. */
import type { ChannelMessageActionName } from "../../protocol/index.ts";

type Schema = Readonly<Record<string, unknown>>;

const text = (description: string): Schema => ({ type: "string", description });
const flag = (description: string): Schema => ({ type: "boolean", description });
const number = (description: string): Schema => ({ type: "number", description });
const texts = (description: string): Schema => ({ type: "array", items: { type: "string" }, description });

const PLAIN = [
  "buffer",
  "filename",
  "contentType",
  "mimeType",
  "quoteText",
  "effectId",
  "effect",
  "targetAuthor",
  "targetAuthorUuid",
  "groupId",
  "before",
  "after",
  "around",
  "channelId",
  "guildId",
  "userId",
  "authorId",
  "roleId",
  "participant",
  "emojiName",
  "stickerName",
  "stickerDesc",
  "stickerTags",
  "threadName",
  "eventName",
  "eventType",
  "startTime",
  "endTime",
  "desc",
  "location",
  "until",
  "reason",
  "query",
  "name",
  "topic",
  "parentId",
  "categoryId",
  "activityType",
  "activityName",
  "activityUrl",
  "activityState",
  "status",
] as const;
const LISTS = ["channelIds", "authorIds", "roleIds", "stickerId"] as const;
const NUMBERS = ["limit", "autoArchiveMin", "durationMin", "deleteDays", "position", "rateLimitPerUser"] as const;
const FLAGS = ["fromMe", "includeArchived", "bestEffort", "nsfw", "clearParent"] as const;

const named = (names: readonly string[], schema: Schema): Record<string, Schema> => Object.fromEntries(names.map((name) => [name, schema]));

/** `actions` are what can be done besides sending. */
export function messageParameters(actions: readonly ChannelMessageActionName[], { cards }: { readonly cards: boolean }): Schema {
  const all = [...new Set(["send", "broadcast", ...actions])];
  return {
    type: "object",
    required: ["action"],
    properties: {
      action: { type: "string", enum: all, description: "What to do." },
      channel: text("Channel, such as telegram. Default: the one of this conversation."),
      target: text("Chat or person, in the channel's own format. Default: this conversation."),
      to: text("Older name of target."),
      targets: texts("For broadcast: all recipients."),
      accountId: text("Account of the channel."),
      dryRun: flag("Only report what would happen."),
      message: text("The text."),
      media: text("URL or path of a file to send."),
      path: text("Older name of media."),
      filePath: text("Older name of media."),
      caption: text("Caption of the file."),
      replyTo: text("Id of the message to answer."),
      threadId: text("Thread or topic."),
      asVoice: flag("Send audio as a voice note."),
      silent: flag("Send without a notification sound."),
      gifPlayback: flag("Show a video as an animation."),
      buttons: { type: "array", items: { type: "array", items: { type: "object" } }, description: "Rows of buttons, if the channel supports them." },
      ...(cards ? { card: { type: "object", description: "A card." } } : {}),
      components: { type: "object", description: "Components, if the channel supports them." },
      messageId: text("Id of a message."),
      emoji: text("Reaction; empty removes our own."),
      remove: flag("Remove this reaction."),
      pollQuestion: text("Question of a poll."),
      pollOption: texts("Its options, at least 2."),
      pollDurationHours: number("How long the poll is open."),
      pollMulti: flag("Allow several answers."),
      ...named(PLAIN, { type: "string" }),
      ...named(LISTS, { type: "array", items: { type: "string" } }),
      ...named(NUMBERS, { type: "number" }),
      ...named(FLAGS, { type: "boolean" }),
    },
  };
}
