/** Messages of the bot: posted, edited, deleted, streamed. */
import { checkBlocks } from "./blocks.ts";
import { type Args, checkedText, jsonIn, MAX_MARKDOWN, MAX_TEXT, MAX_UPDATE, type Method, ownMessage, shown, threadOf, writable } from "./method.ts";
import { SlackRefusal } from "./refusal.ts";

/** `markdown_text`, and the texts of chunks behind it. */
function streamed(args: Args): string {
  const chunks = jsonIn(args["chunks"], "invalid_chunks") ?? [];
  if (!Array.isArray(chunks)) throw new SlackRefusal("invalid_chunks");
  const texts = (chunks as readonly { readonly type?: unknown; readonly text?: unknown }[]).map(({ type, text }) => {
    if (typeof type !== "string" || (type === "markdown_text" && typeof text !== "string")) throw new SlackRefusal("invalid_chunks");
    return type === "markdown_text" ? String(text) : "";
  });
  const whole = [args["markdown_text"] ?? "", ...texts].join("");
  if (whole.length > MAX_MARKDOWN) throw new SlackRefusal("msg_too_long");
  return whole;
}

/** The text of a message, plain or as Markdown, but not both. */
function textIn(args: Args, hasBlocks: boolean): string {
  const { markdown_text: markdown } = args;
  if (markdown === undefined) return checkedText(args, MAX_TEXT, hasBlocks);
  if (args["text"] !== undefined || hasBlocks) throw new SlackRefusal("markdown_text_conflict");
  return checkedText({ text: markdown }, MAX_MARKDOWN, false);
}

export const CHAT_METHODS: Readonly<Record<string, Method>> = {
  "chat.postMessage": {
    scope: "chat:write",
    required: ["channel"],
    run(args, host, caller) {
      // A person's id stands for the direct chat.
      const { id } = writable(host, host.world.users.has(args["channel"]!) ? host.world.direct(args["channel"]!).id : args["channel"]);
      const blocks = jsonIn(args["blocks"], "invalid_blocks_format");
      checkBlocks(blocks);
      const wantsName = args["username"] ?? args["icon_emoji"] ?? args["icon_url"];
      if (wantsName !== undefined && !caller.scopes.has("chat:write.customize"))
        throw new SlackRefusal("missing_scope", { needed: "chat:write.customize", provided: [...caller.scopes].join(",") });
      const text = textIn(args, blocks !== undefined);
      const { bot } = host.world;
      const threadTs = threadOf(host, id, args["thread_ts"]);
      const metadata = jsonIn(args["metadata"], "invalid_metadata_format");
      const message = host.world.post({ channel: id, text, blocks, metadata, user: bot.id, botId: bot.botId, threadTs, username: args["username"] });
      host.posted(message);
      return { channel: id, ts: message.ts, message: shown(host, message) };
    },
  },
  "chat.postEphemeral": {
    scope: "chat:write",
    required: ["channel", "user"],
    run(args, host) {
      const { id, members } = writable(host, args["channel"]);
      if (!members.has(args["user"]!)) throw new SlackRefusal("user_not_in_channel");
      const blocks = jsonIn(args["blocks"], "invalid_blocks_format");
      checkBlocks(blocks);
      const { bot } = host.world;
      const text = checkedText(args, MAX_TEXT, blocks !== undefined);
      const message = host.world.post({ channel: id, text, blocks, user: bot.id, botId: bot.botId, ephemeralFor: args["user"]! });
      return { message_ts: message.ts };
    },
  },
  "chat.update": {
    scope: "chat:write",
    required: ["channel", "ts"],
    run(args, host) {
      const message = ownMessage(host, args, "cant_update_message");
      if (message.isStreaming) throw new SlackRefusal("streaming_state_conflict");
      const blocks = jsonIn(args["blocks"], "invalid_blocks_format");
      checkBlocks(blocks);
      const before = message.text;
      message.text = checkedText(args, MAX_UPDATE, blocks !== undefined);
      message.blocks = blocks;
      message.editedAt = (Date.now() / 1000).toFixed(6);
      host.changed(message, before);
      return { channel: message.channel, ts: message.ts, text: message.text, message: shown(host, message) };
    },
  },
  "chat.delete": {
    scope: "chat:write",
    required: ["channel", "ts"],
    run(args, host) {
      const message = ownMessage(host, args, "cant_delete_message");
      const { channel, ts } = message;
      host.world.remove(channel, ts);
      host.deleted(message);
      return { channel, ts };
    },
  },
  "chat.startStream": {
    scope: "chat:write",
    required: ["channel", "thread_ts"],
    run(args, host) {
      const { id, kind } = writable(host, args["channel"]);
      if (kind !== "im" && args["recipient_user_id"] === undefined) throw new SlackRefusal("missing_recipient_user_id");
      if (kind !== "im" && args["recipient_team_id"] === undefined) throw new SlackRefusal("missing_recipient_team_id");
      const text = streamed(args);
      const { bot } = host.world;
      const threadTs = threadOf(host, id, args["thread_ts"]);
      const message = host.world.post({ channel: id, text, user: bot.id, botId: bot.botId, threadTs, isStreaming: true });
      return { channel: id, ts: message.ts };
    },
  },
  "chat.appendStream": {
    scope: "chat:write",
    required: ["channel", "ts"],
    run(args, host) {
      const message = ownMessage(host, args, "message_not_owned_by_app");
      if (!message.isStreaming) throw new SlackRefusal("message_not_in_streaming_state");
      if (args["markdown_text"] === undefined && args["chunks"] === undefined) throw new SlackRefusal("invalid_arguments");
      message.text += streamed(args);
      return { channel: message.channel, ts: message.ts };
    },
  },
  "chat.stopStream": {
    scope: "chat:write",
    required: ["channel", "ts"],
    run(args, host) {
      const message = ownMessage(host, args, "message_not_owned_by_app");
      if (!message.isStreaming) throw new SlackRefusal("message_not_in_streaming_state");
      const blocks = jsonIn(args["blocks"], "invalid_blocks_format");
      checkBlocks(blocks);
      message.text += streamed(args);
      message.blocks = blocks;
      message.isStreaming = false;
      host.posted(message);
      return { channel: message.channel, ts: message.ts, message: shown(host, message) };
    },
  },
};
