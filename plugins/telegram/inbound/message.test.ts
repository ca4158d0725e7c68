import { describe, expect, test } from "vitest";
import { ADA, BOT, DATE, DM, event, facts, FORUM, GROUP, message, read } from "./samples.ts";

describe("a message", () => {
  test("in private", () => {
    expect(event({ text: "hello" })).toEqual({
      kind: "message",
      id: "11",
      chat: { type: "direct", id: "5000000001" },
      sender: { id: "5000000001", name: "Ada L.", username: "ada" },
      text: "hello",
      to: "telegram:5000000001",
      at: DATE * 1000,
      mention: { mentioned: false, implicit: false, others: false, canDetect: true, botUsername: "claw_bot" },
      context: { From: "telegram:5000000001", To: "telegram:5000000001" },
    });
  });

  test("in a group", () => {
    expect(event({ text: "hello" }, GROUP)).toMatchObject({
      chat: { type: "group", id: "-1001234567890", title: "Friends" },
      to: "telegram:-1001234567890",
      context: { From: "telegram:group:-1001234567890", To: "telegram:-1001234567890" },
    });
  });

  test.each([
    ["a topic of a forum", { message_thread_id: 7, is_topic_message: true }, FORUM, 7, "telegram:group:-1001234567890:topic:7"],
    ["General of a forum", {}, FORUM, 1, "telegram:group:-1001234567890:topic:1"],
    ["General of a forum, in a reply thread", { message_thread_id: 9 }, FORUM, 1, "telegram:group:-1001234567890:topic:1"],
    ["a reply thread of a group that is no forum", { message_thread_id: 9 }, GROUP, undefined, "telegram:group:-1001234567890"],
    ["a thread of a private chat", { message_thread_id: 4 }, DM, 4, "telegram:5000000001"],
  ])("in %s", (_, fields, chat, threadId, from) => {
    const got = event({ text: "x", ...fields }, chat);
    expect(got.chat.threadId).toBe(threadId);
    expect(got.context?.From).toBe(from);
  });

  test("has what the configuration says for its group and topic", () => {
    const groups = {
      "*": { systemPrompt: "all", skills: ["a"] },
      [GROUP.id]: { systemPrompt: "group", topics: { 7: { systemPrompt: "topic", skills: ["b"] } } },
    };
    const topic = event({ text: "x", message_thread_id: 7, is_topic_message: true }, FORUM, facts({ groups }));
    expect(topic).toMatchObject({ groupSystemPrompt: "group\n\ntopic", skillFilter: ["b"] });
    expect(event({ text: "x" }, GROUP, facts({ groups }))).toMatchObject({ groupSystemPrompt: "group", skillFilter: ["a"] });
    expect(event({ text: "x" }, { ...GROUP, id: -5 }, facts({ groups }))).toMatchObject({ groupSystemPrompt: "all" });
    expect(event({ text: "x" }, DM, facts({ groups }))).not.toHaveProperty("groupSystemPrompt");
  });

  test("of an anonymous admin is the group's, not a person's", () => {
    const from = { id: 1_087_968_824, is_bot: true, first_name: "Group", username: "GroupAnonymousBot" };
    expect(event({ text: "x", from, sender_chat: GROUP }, GROUP).sender).toEqual({ id: "-1001234567890", name: "Friends" });
    expect(event({ text: "x", sender_chat: GROUP }, GROUP).sender.id).toBe(String(ADA.id));
  });

  test.each([
    ["a contact", { contact: { first_name: "Bob", phone_number: "+1" } }, "[contact] Bob +1"],
    ["a poll", { poll: { question: "Tea?", options: [{ text: "yes" }, { text: "no" }] } }, "[poll] Tea?: yes / no"],
    ["a die", { dice: { emoji: "🎯", value: 4 } }, "🎯 4"],
  ])("with %s is described in words", (_, fields, text) => expect(event(fields).text).toBe(text));

  test.each([
    ["a pinned message", { pinned_message: message({ text: "x" }) }],
    ["a new topic", { forum_topic_created: { name: "t", icon_color: 1 } }],
    ["nothing", {}],
  ])("about %s says nothing", (_, fields) => expect(read({ message: message(fields) })).toEqual({ events: [], ignored: "it is empty" }));
});

describe("text", () => {
  test.each([
    [
      "a link behind words",
      "see docs now",
      [{ type: "text_link", offset: 4, length: 4, url: "https://x.io/a b(c)" }],
      "see [docs](https://x.io/a%20b%28c%29) now",
    ],
    ["a link that shows itself", "https://x.io", [{ type: "text_link", offset: 0, length: 12, url: "https://x.io" }], "https://x.io"],
    ["behind an emoji: offsets are UTF-16", "👍 docs", [{ type: "text_link", offset: 3, length: 4, url: "https://x.io" }], "👍 [docs](https://x.io)"],
    ["brackets in the words", "a]b", [{ type: "text_link", offset: 0, length: 3, url: "https://x.io" }], String.raw`[a\]b](https://x.io)`],
    ["from right to left", "שלום עולם", [{ type: "text_link", offset: 5, length: 4, url: "https://x.io" }], "שלום [עולם](https://x.io)"],
    [
      "two links, given in the wrong order",
      "ab",
      [
        { type: "text_link", offset: 1, length: 1, url: "y:2" },
        { type: "text_link", offset: 0, length: 1, url: "y:1" },
      ],
      "[a](y:1)[b](y:2)",
    ],
    [
      "links that overlap: the first counts",
      "abc",
      [
        { type: "text_link", offset: 0, length: 2, url: "y:1" },
        { type: "text_link", offset: 1, length: 2, url: "y:2" },
      ],
      "[ab](y:1)c",
    ],
    ["a mark outside of the text", "abc", [{ type: "text_link", offset: 2, length: 5, url: "y:1" }], "abc"],
    [
      "marks that are none",
      "abc",
      [null, 4, {}, { type: "text_link", offset: -1, length: 2, url: "y" }, { type: "text_link", offset: 0.5, length: 1, url: "y" }],
      "abc",
    ],
  ])("%s", (_, text, entities, expected) => expect(event({ text, entities }).text).toBe(expected));

  test("a caption is the text of a picture", () => {
    const got = event({
      caption: "docs",
      caption_entities: [{ type: "text_link", offset: 0, length: 4, url: "https://x.io" }],
      photo: [{ file_id: "p", width: 1, height: 1 }],
    });
    expect(got.text).toBe("[docs](https://x.io)");
  });

  test("ten thousand marks are read in no time, and only as many as Telegram ever sends", () => {
    const entities = Array.from({ length: 10_000 }, (_, offset) => ({ type: "text_link", offset, length: 1, url: "y:1" }));
    expect(event({ text: "a".repeat(10_000), entities }).text).toHaveLength(1000 * "[a](y:1)".length + 9000);
  });
});

describe("mentions", () => {
  const at = (type: string, text: string, name: string, more: object = {}) => ({
    text,
    entities: [{ type, offset: text.indexOf(name), length: name.length, ...more }],
  });
  test.each([
    ["our name", at("mention", "hi @Claw_Bot", "@Claw_Bot"), { mentioned: true, others: false }],
    ["another name", at("mention", "hi @bob_99", "@bob_99"), { mentioned: false, others: true }],
    ["a name that begins as ours", at("mention", "hi @claw_bot2", "@claw_bot2"), { mentioned: false, others: true }],
    ["us without a name", at("text_mention", "hi Claw", "Claw", { user: BOT }), { mentioned: true, others: false }],
    ["someone without a name", at("text_mention", "hi Ada", "Ada", { user: ADA }), { mentioned: false, others: true }],
    ["a command for us", at("bot_command", "/new@claw_bot", "/new@claw_bot"), { mentioned: true, others: false }],
    ["a command for another bot", at("bot_command", "/new@other_bot", "/new@other_bot"), { mentioned: false, others: true }],
    ["a command for nobody", at("bot_command", "/new", "/new"), { mentioned: false, others: false }],
    ["our name as plain text", { text: "hi @claw_bot" }, { mentioned: false, others: false }],
  ])("%s", (_, fields, mention) => expect(event(fields, GROUP).mention).toMatchObject(mention));

  test.each([
    ["one of the menu", "/new now", 4, "command"],
    ["the same, for us", "/NEW@claw_bot now", 13, "command"],
    ["the same, for another bot", "/new@other_bot", 14, "message"],
    ["one that the menu does not have", "/other", 6, "message"],
  ])("a command: %s", (_, text, length, kind) => expect(event({ text, entities: [{ type: "bot_command", offset: 0, length }] }, GROUP).kind).toBe(kind));

  test("a command further behind is none", () => {
    expect(event({ text: "see /new", entities: [{ type: "bot_command", offset: 4, length: 4 }] }).kind).toBe("message");
  });

  test("an answer to one of our messages counts, the message that opened the topic does not", () => {
    const reply_to_message = message({ message_id: 7, from: BOT, text: "ours" }, GROUP);
    expect(event({ text: "x", reply_to_message }, GROUP).mention?.implicit).toBe(true);
    const opener = { ...reply_to_message, forum_topic_created: { name: "Plans" } };
    const inTopic = event({ text: "x", reply_to_message: opener, message_thread_id: 7, is_topic_message: true }, FORUM);
    expect(inTopic.mention?.implicit).toBe(false);
    expect(inTopic.replyTo).toBeUndefined();
    expect(inTopic.context?.ThreadLabel).toBe("Friends topic: Plans");
  });
});

describe("what a message answers", () => {
  test.each([
    ["a text", { reply_to_message: message({ message_id: 7, text: "before" }) }, { id: "7", body: "before", sender: "Ada L." }],
    [
      "a part of it",
      { reply_to_message: message({ message_id: 7, text: "before" }), quote: { text: "bef", position: 0 } },
      { id: "7", body: "bef", sender: "Ada L.", isQuote: true },
    ],
    ["a picture", { reply_to_message: message({ message_id: 7, photo: [{ file_id: "p" }] }) }, { id: "7", body: "<media:image>", sender: "Ada L." }],
    [
      "a message of another chat",
      { external_reply: { origin: { type: "channel", chat: { id: -9, type: "channel", title: "News" } }, message_id: 3 }, quote: { text: "q" } },
      { id: "3", body: "q", sender: "News", isQuote: true },
    ],
  ])("%s", (_, fields, replyTo) => expect(event({ text: "x", ...fields }).replyTo).toEqual(replyTo));
});

describe("where a forwarded message comes from", () => {
  test.each([
    [
      "a person",
      { type: "user", sender_user: ADA, date: 5 },
      { ForwardedFrom: "Ada L.", ForwardedFromType: "user", ForwardedFromId: "5000000001", ForwardedFromUsername: "ada", ForwardedDate: 5000 },
    ],
    [
      "a person who hides",
      { type: "hidden_user", sender_user_name: "Nobody", date: 5 },
      { ForwardedFrom: "Nobody", ForwardedFromType: "hidden_user", ForwardedDate: 5000 },
    ],
    [
      "a group",
      { type: "chat", sender_chat: GROUP, author_signature: "admin", date: 5 },
      { ForwardedFrom: "Friends", ForwardedFromTitle: "Friends", ForwardedFromChatType: "supergroup", ForwardedFromSignature: "admin" },
    ],
    [
      "a channel",
      { type: "channel", chat: { id: -9, type: "channel", title: "News", username: "news" }, message_id: 3, date: 5 },
      { ForwardedFromId: "-9", ForwardedFromUsername: "news", ForwardedFromMessageId: 3 },
    ],
  ])("%s", (_, forward_origin, context) => expect(event({ text: "x", forward_origin }).context).toMatchObject(context));
});

describe("files", () => {
  const file = { file_id: "F", file_unique_id: "U", file_size: 10 };
  test.each([
    [
      "the largest picture",
      {
        photo: [
          { file_id: "s", width: 9, height: 9 },
          { file_id: "l", width: 90, height: 90, file_size: 5 },
          { file_id: "m", width: 30, height: 30 },
        ],
      },
      "image",
      { ref: { fileId: "l" }, mimeType: "image/jpeg", bytes: 5 },
    ],
    [
      "a video",
      { video: { ...file, mime_type: "video/mp4", file_name: "a.mp4" } },
      "video",
      { ref: { fileId: "F", mimeType: "video/mp4", fileName: "a.mp4" }, fileName: "a.mp4", bytes: 10 },
    ],
    ["a round video", { video_note: file }, "video", { mimeType: "video/mp4" }],
    ["an animation, once", { animation: file, document: file }, "video", { mimeType: "video/mp4" }],
    ["a song", { audio: { ...file, mime_type: "audio/mp4" } }, "audio", { mimeType: "audio/mp4" }],
    ["a voice message", { voice: file }, "audio", { mimeType: "audio/ogg" }],
    ["a document", { document: { ...file, mime_type: "application/pdf" } }, "document", { mimeType: "application/pdf" }],
    ["a sticker", { sticker: { ...file, emoji: "😀", set_name: "s" } }, "sticker", { mimeType: "image/webp" }],
    ["a moving sticker", { sticker: { ...file, is_animated: true } }, "sticker", { mimeType: "application/x-tgsticker" }],
    ["a filmed sticker", { sticker: { ...file, is_video: true } }, "sticker", { mimeType: "video/webm" }],
  ])("%s", (_, fields, kind, expected) => {
    const { media } = event(fields);
    expect(media).toHaveLength(1);
    expect(media![0]).toMatchObject({ kind, ...expected });
  });

  test("a sticker is described", () => {
    expect(event({ sticker: { ...file, emoji: "😀", set_name: "s" } }).context?.Sticker).toEqual({ emoji: "😀", setName: "s", fileId: "F", fileUniqueId: "U" });
  });

  test("an album is one message", () => {
    expect(event({ photo: [file], media_group_id: "135" }).joins).toEqual({ key: "album:135", waitMs: 500 });
  });

  test.each([
    ["a place", { location: { latitude: 1.5, longitude: -2, horizontal_accuracy: 9 } }, { latitude: 1.5, longitude: -2, accuracy: 9, source: "pin" }],
    ["one that moves", { location: { latitude: 1, longitude: 2, live_period: 60 } }, { isLive: true, source: "live" }],
    [
      "one with a name",
      { venue: { location: { latitude: 1, longitude: 2 }, title: "Café", address: "Street 1" }, location: { latitude: 1, longitude: 2 } },
      { name: "Café", address: "Street 1", source: "place" },
    ],
  ])("%s", (_, fields, location) => expect(event(fields).location).toMatchObject(location));
});

describe("a text that Telegram cut", () => {
  const known = facts();
  const part = (id: number, text: string, more: object = {}) => event({ message_id: id, text, ...more }, DM, known).joins;
  test("is joined while its parts follow each other", () => {
    expect(part(20, "a".repeat(4096))).toEqual({ key: "text:20", waitMs: 1500 });
    expect(part(21, "b".repeat(4096))).toEqual({ key: "text:20", waitMs: 1500 });
    expect(part(22, "c")).toEqual({ key: "text:20", waitMs: 50 });
    expect(part(23, "d")).toBeUndefined();
  });

  test.each([
    ["with another id", 32, {}],
    ["later", 31, { date: DATE + 10 }],
    ["by someone else", 31, { from: { ...ADA, id: 9 } }],
    ["that answers something", 31, { reply_to_message: message({ message_id: 7, text: "x" }) }],
  ])("a message %s is not a part of it", (_, id, more) => {
    part(30, "a".repeat(4096));
    expect(part(id, "next", more)).toBeUndefined();
  });

  test("ends after twelve parts", () => {
    const keys = Array.from({ length: 13 }, (_, index) => part(40 + index, "a".repeat(4000))?.key);
    expect(new Set(keys.slice(0, 12))).toEqual(new Set(["text:40"]));
    expect(keys[12]).toBe("text:52");
  });
});
