import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startTelegram, type FakeTelegram } from "./index.ts";
import { call } from "./raw-calls.ts";

let telegram: FakeTelegram;
let chat_id: number;
beforeEach(async () => {
  telegram = await startTelegram();
  chat_id = telegram.say("/start").chatId;
});
afterEach(() => telegram[Symbol.asyncDispose]());

const refused = async (method: string, params: object): Promise<string> => {
  const { ok, error_code, description } = await call(telegram, method, params);
  return ok ? "ok" : `${error_code} ${description}`;
};
const send = async (params: object): Promise<number> => {
  const { result, description } = await call<{ message_id: number }>(telegram, "sendMessage", { chat_id, text: "hello", ...params });
  if (!result) throw new Error(description);
  return result.message_id;
};
const ours = (chat = chat_id): ReturnType<FakeTelegram["messages"]> => telegram.messages(chat).filter(({ byBot }) => byBot);

describe("calls", () => {
  test("may be GET with a query, a form, multipart or JSON", async () => {
    const base = `${telegram.apiRoot}/bot${telegram.token}/sendMessage`;
    const form = new FormData();
    form.set("chat_id", String(chat_id));
    form.set("text", "multipart");
    await fetch(`${base}?chat_id=${chat_id}&text=query`);
    await fetch(base, {
      method: "POST",
      body: new URLSearchParams({ chat_id: String(chat_id), text: "form", reply_markup: JSON.stringify({ inline_keyboard: [] }) }),
    });
    await fetch(base, { method: "POST", body: form });
    await send({ text: "json" });
    expect(ours().map(({ text }) => text)).toEqual(["query", "form", "multipart", "json"]);
    expect(telegram.calls("sendMessage").map(({ via }) => via)).toEqual(["GET", "POST", "POST", "POST"]);
  });

  test("need the right token, a known method and a body that can be read", async () => {
    const get = async (path: string): Promise<unknown> => (await fetch(`${telegram.apiRoot}${path}`)).json();
    expect(await get("/bot7012345678:wrong/getMe")).toEqual({ ok: false, error_code: 401, description: "Unauthorized" });
    expect(await get("/botnonsense/getMe")).toEqual({ ok: false, error_code: 404, description: "Not Found" });
    expect(await refused("sendTelepathy", {})).toBe("404 Not Found: method not found");
    expect(await call(telegram, "getMe", {}, { body: "{" })).toMatchObject({ error_code: 400 });
    expect(await call(telegram, "GETME"), "names are not case-sensitive").toMatchObject({ ok: true });
  });
});

describe("sendMessage", () => {
  test.each([
    [{ text: "" }, "message text is empty"],
    [{ text: " \n " }, "message text is empty"],
    [{ text: "x".repeat(4097) }, "message is too long"],
    [{ chat_id: 4711 }, "chat not found"],
    [{ chat_id: "" }, "chat_id is empty"],
    [{ reply_parameters: { message_id: 99_999 } }, "message to be replied not found"],
    [{ message_thread_id: 77 }, "message thread not found"],
    [{ parse_mode: "Nonsense" }, "unsupported parse_mode"],
    [{ reply_markup: { inline_keyboard: [[{ text: "x", callback_data: "ä".repeat(33) }]] } }, "BUTTON_DATA_INVALID"],
  ])("refuses %j", async (params, why) => {
    expect(await refused("sendMessage", { chat_id, text: "hello", ...params })).toBe(`400 Bad Request: ${why}`);
    expect(ours()).toEqual([]);
  });

  test("counts the text after its markup was read", async () => {
    await send({ text: `<b>${"x".repeat(4096)}</b>`, parse_mode: "HTML" });
    await send({ text: "&lt;".repeat(4096), parse_mode: "HTML" });
    expect(ours().map(({ text }) => text.length)).toEqual([4096, 4096]);
  });

  test("answers a message, or is sent without that where it is allowed", async () => {
    const { messageId } = telegram.say("question");
    await send({ text: "answer", reply_parameters: { message_id: messageId } });
    await send({ text: "no answer", reply_parameters: { message_id: 99_999, allow_sending_without_reply: true } });
    expect(ours().map(({ replyTo }) => replyTo)).toEqual([messageId, undefined]);
  });

  test("goes to a topic; General is where it goes without one, and can be named only for typing", async () => {
    const { id } = telegram.group({ forum: true });
    const topic = telegram.topic(id, "Plans");
    await send({ chat_id: id, message_thread_id: topic, text: "topic" });
    await send({ chat_id: id, text: "general" });
    expect(ours(id).map(({ text, thread }) => [text, thread])).toEqual([
      ["topic", topic],
      ["general", undefined],
    ]);
    expect(await refused("sendMessage", { chat_id: id, message_thread_id: 1, text: "x" })).toBe("400 Bad Request: message thread not found");
    expect(await refused("sendChatAction", { chat_id: id, message_thread_id: 1, action: "typing" })).toBe("ok");
  });

  test("goes to the topic of the message that it answers", async () => {
    const { id } = telegram.group({ forum: true });
    const topic = telegram.topic(id, "Plans");
    const { messageId } = telegram.say("question", { chat: id, thread: topic });
    await send({ chat_id: id, text: "answer", reply_parameters: { message_id: messageId } });
    expect(ours(id)).toMatchObject([{ thread: topic, replyTo: messageId }]);
  });

  test("a topic can be made by an administrator of a forum", async () => {
    const { id } = telegram.group({ forum: true });
    const { result } = await call<{ message_thread_id: number }>(telegram, "createForumTopic", { chat_id: id, name: "New" });
    await send({ chat_id: id, message_thread_id: result.message_thread_id });
    expect(ours(id).at(-1)!.thread).toBe(result.message_thread_id);
    expect(await refused("createForumTopic", { chat_id: telegram.group().id, name: "New" })).toBe("400 Bad Request: the chat is not a forum");
  });

  test("a chat that shut the bot out says so", async () => {
    telegram.shut(chat_id, "bot was blocked by the user");
    expect(await refused("sendMessage", { chat_id, text: "x" })).toBe("403 Forbidden: bot was blocked by the user");
  });
});

describe("HTML", () => {
  test.each([
    ["<h1>x</h1>", 'Unsupported start tag "h1" at byte offset 0'],
    ["äö <div>x</div>", 'Unsupported start tag "div" at byte offset 5'],
    ["a < b", 'Unsupported start tag "" at byte offset 2'],
    ["a <b", "Unclosed start tag at byte offset 2"],
    ["<b>x", `Can't find end tag corresponding to start tag "b"`],
    ["x</b>", "Unexpected end tag at byte offset 1"],
    ["<b><i>x</b></i>", 'Unmatched end tag at byte offset 7, expected "</i>", found "</b>"'],
    ["<b>x</b", "Unclosed end tag at byte offset 4"],
    ["<span>x</span>", 'Tag "span" must have class "tg-spoiler" at byte offset 0'],
    ['<a href="x>y</a>', "Unclosed start tag at byte offset 0"],
  ])("refuses %s", async (text, why) => {
    expect(await refused("sendMessage", { chat_id, text, parse_mode: "HTML" })).toBe(`400 Bad Request: can't parse entities: ${why}`);
  });

  test("is shown as text with styles over it", async () => {
    const text =
      '<b>bold <i>both</i></b> &amp; <a href="https://x.example/?a=1&amp;b=2">🎉 link</a> <code>a&lt;b</code>\n<pre><code class="language-ts">let x</code></pre><tg-spoiler>s</tg-spoiler>';
    await send({ text, parse_mode: "HTML" });
    const [{ text: shown, entities }] = ours() as [ReturnType<typeof ours>[number]];
    expect(shown).toBe("bold both & 🎉 link a<b\nlet xs");
    expect(entities.map(({ type, offset, length }) => [type, shown.slice(offset, offset + length)])).toEqual([
      ["bold", "bold both"],
      ["italic", "both"],
      ["text_link", "🎉 link"],
      ["code", "a<b"],
      ["pre", "let x"],
      ["spoiler", "s"],
    ]);
    expect(entities).toContainEqual(expect.objectContaining({ url: "https://x.example/?a=1&b=2" }));
    expect(entities).toContainEqual(expect.objectContaining({ type: "pre", language: "ts" }));
  });

  test("code contains nothing, and an unknown entity is text", async () => {
    await send({ text: "<code>a <b>c</b></code> &nbsp; &#65;", parse_mode: "HTML" });
    const [{ text, entities }] = ours() as [ReturnType<typeof ours>[number]];
    expect(text).toBe("a c &nbsp; A");
    expect(entities.map(({ type }) => type)).toEqual(["code"]);
  });
});

describe("changing messages", () => {
  test("an edit is seen, and the same once more is refused", async () => {
    const message_id = await send({ text: "draft" });
    await call(telegram, "editMessageText", { chat_id, message_id, text: "<b>final</b>", parse_mode: "HTML" });
    expect(ours()).toMatchObject([{ text: "final", isEdited: true, entities: [{ type: "bold" }] }]);
    expect(await refused("editMessageText", { chat_id, message_id, text: "<b>final</b>", parse_mode: "HTML" })).toContain(
      "400 Bad Request: message is not modified",
    );
    expect(await refused("editMessageText", { chat_id, message_id, text: "final" }), "plain is another").toBe("ok");
  });

  test("only its own, and only while they are there", async () => {
    const theirs = telegram.say("mine").messageId;
    expect(await refused("editMessageText", { chat_id, message_id: theirs, text: "x" })).toBe("400 Bad Request: message can't be edited");
    const message_id = await send({});
    expect(await refused("deleteMessage", { chat_id, message_id })).toBe("ok");
    expect(ours()).toEqual([]);
    expect(await refused("deleteMessage", { chat_id, message_id })).toBe("400 Bad Request: message to delete not found");
    expect(await refused("editMessageText", { chat_id, message_id, text: "x" })).toBe("400 Bad Request: message to edit not found");
    const group = telegram.say("theirs", { chat: telegram.group().id });
    expect(await refused("deleteMessage", { chat_id: group.chatId, message_id: group.messageId })).toBe("400 Bad Request: message can't be deleted");
  });

  test("a draft is shown until the message comes", async () => {
    expect(await refused("sendMessageDraft", { chat_id, draft_id: 0, text: "x" })).toContain("400");
    await call(telegram, "sendMessageDraft", { chat_id, draft_id: 7, text: "writing" });
    expect(telegram.draft(chat_id)).toBe("writing");
    expect(ours()).toEqual([]);
    await send({ text: "written" });
    expect(telegram.draft(chat_id)).toBeUndefined();
  });

  test("a reaction is one of the known ones, and one at most", async () => {
    const { messageId: message_id } = telegram.say("nice");
    const react = (...emoji: string[]): Promise<string> =>
      refused("setMessageReaction", { chat_id, message_id, reaction: emoji.map((one) => ({ type: "emoji", emoji: one })) });
    expect(await react("👀")).toBe("ok");
    expect(telegram.messages(chat_id).at(-1)!.reactions).toEqual(["👀"]);
    expect(await react("🦀")).toBe("400 Bad Request: REACTION_INVALID");
    expect(await react("👀", "👍")).toBe("400 Bad Request: REACTIONS_TOO_MANY");
    expect(await react()).toBe("ok");
    expect(telegram.messages(chat_id).at(-1)!.reactions).toEqual([]);
    expect(await refused("setMessageReaction", { chat_id, message_id: 99_999, reaction: [] })).toBe("400 Bad Request: message to react not found");
  });

  test("a pressed button is a query that is answered once", async () => {
    const messageId = await send({ reply_markup: { inline_keyboard: [[{ text: "Yes", callback_data: "yes:1" }]] } });
    const { callbackId: callback_query_id } = telegram.press({ chatId: chat_id, messageId }, "Yes");
    expect(telegram.callback(callback_query_id)).toBeUndefined();
    expect(await refused("answerCallbackQuery", { callback_query_id, text: "x".repeat(201) })).toContain("400");
    expect(await refused("answerCallbackQuery", { callback_query_id, text: "done" })).toBe("ok");
    expect(telegram.callback(callback_query_id)).toMatchObject({ text: "done" });
    expect(await refused("answerCallbackQuery", { callback_query_id })).toContain("query is too old");
  });
});

describe("files", () => {
  const upload = (
    method: string,
    field: string,
    data: Buffer,
    extra: Record<string, string> = {},
    attach = false,
  ): Promise<Awaited<ReturnType<typeof call>>> => {
    const form = new FormData();
    for (const [name, value] of Object.entries({ chat_id: String(chat_id), ...extra, ...(attach ? { [field]: "attach://f0" } : {}) })) form.set(name, value);
    form.set(attach ? "f0" : field, new File([new Uint8Array(data)], "name.bin", { type: "image/png" }));
    return call(telegram, method, {}, { headers: {}, body: form });
  };

  test.each(["Photo", "Video", "Animation", "Audio", "Voice", "Document", "Sticker"])("send%s takes a file", async (name) => {
    const field = name.toLowerCase();
    expect((await upload(`send${name}`, field, Buffer.from("bytes"), {}, name === "Photo")).ok).toBe(true);
    expect(ours()).toMatchObject([{ media: { kind: field, name: "name.bin", mime: "image/png", data: Buffer.from("bytes") } }]);
  });

  test("a caption has 1024 characters at most", async () => {
    expect((await upload("sendPhoto", "photo", Buffer.from("x"), { caption: "c".repeat(1024) })).ok).toBe(true);
    expect((await upload("sendPhoto", "photo", Buffer.from("x"), { caption: "c".repeat(1025) })).description).toBe("Bad Request: message caption is too long");
  });

  test("a photo above 10 MB is refused, and a voice note where none are taken", async () => {
    expect((await upload("sendPhoto", "photo", Buffer.alloc(10 * 1024 * 1024 + 1))).ok).toBe(false);
    telegram.refuseVoice(chat_id);
    expect((await upload("sendVoice", "voice", Buffer.from("x"))).description).toBe("Bad Request: VOICE_MESSAGES_FORBIDDEN");
    expect((await upload("sendAudio", "audio", Buffer.from("x"))).ok).toBe(true);
  });

  test("what a person sent is fetched by its path, up to 20 MB", async () => {
    const data = Buffer.from("the file");
    const said = telegram.say("see", { file: { kind: "document", data, name: "a.txt", mime: "text/plain" } });
    const { file_id } = telegram.message(said.chatId, said.messageId)!["document"] as { file_id: string };
    const { result } = await call<{ file_path: string; file_size: number }>(telegram, "getFile", { file_id });
    expect(result.file_size).toBe(8);
    const response = await fetch(`${telegram.apiRoot}/file/bot${telegram.token}/${result.file_path}`);
    expect(Buffer.from(await response.arrayBuffer())).toEqual(data);
    const big = telegram.say("", { file: { kind: "video", data: Buffer.alloc(20 * 1024 * 1024 + 1) } });
    const video = telegram.message(big.chatId, big.messageId)!["video"] as { file_id: string };
    expect(await refused("getFile", { file_id: video.file_id })).toBe("400 Bad Request: file is too big");
    expect(await refused("getFile", { file_id: "nothing" })).toContain("400");
  });
});

describe("the rest", () => {
  test("a poll has 2 to 10 options", async () => {
    const ask = (n: number): Promise<string> =>
      refused("sendPoll", { chat_id, question: "?", options: Array.from({ length: n }, (_, at) => ({ text: `o${at}` })) });
    expect(await ask(1)).toBe("400 Bad Request: poll must have at least 2 option");
    expect(await ask(11)).toBe("400 Bad Request: poll can't have more than 10 options");
    expect(await ask(10)).toBe("ok");
    expect(await refused("sendPoll", { chat_id, question: "?", options: ["a", "b"], open_period: 601 })).toContain("400");
    expect(ours()).toMatchObject([{ poll: { question: "?" } }]);
  });

  test("the menu has 100 commands at most, of small letters, digits and underscores", async () => {
    const command = (name: string): object => ({ command: name, description: "d" });
    const menu = (commands: readonly object[]): Promise<string> => refused("setMyCommands", { commands });
    expect(await menu(Array.from({ length: 101 }, (_, n) => command(`c${n}`)))).toBe("400 Bad Request: BOT_COMMANDS_TOO_MUCH");
    expect(await menu([command("No-Way")])).toBe("400 Bad Request: BOT_COMMAND_INVALID");
    expect(await menu([{ command: "a", description: "d".repeat(257) }])).toBe("400 Bad Request: BOT_COMMAND_DESCRIPTION_INVALID");
    expect(await menu([command("help")])).toBe("ok");
    expect(telegram.menu()).toEqual([{ command: "help", description: "d" }]);
    expect(await refused("deleteMyCommands", {})).toBe("ok");
    expect(telegram.menu()).toEqual([]);
  });

  test("a chat is described", async () => {
    const group = telegram.group({ title: "Workshop" });
    expect((await call(telegram, "getChat", { chat_id: group.id })).result).toMatchObject({ id: group.id, title: "Workshop", type: "supergroup" });
    expect(await refused("getChat", { chat_id: -5 })).toBe("400 Bad Request: chat not found");
    expect(await refused("sendChatAction", { chat_id, action: "dancing" })).toContain("400");
  });
});
