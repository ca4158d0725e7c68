import { Bot, GrammyError, HttpError, InlineKeyboard, InputFile } from "grammy";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startTelegram, type FakeTelegram } from "./index.ts";

/** A client that others wrote for the real one. */
let telegram: FakeTelegram;
let bot: Bot;
beforeEach(async () => {
  telegram = await startTelegram();
  bot = new Bot(telegram.token, { client: { apiRoot: telegram.apiRoot } });
});
afterEach(async () => {
  await bot.stop();
  await telegram[Symbol.asyncDispose]();
});

const bots = (chatId: number): readonly string[] => telegram.messages(chatId).flatMap(({ byBot, text }) => (byBot ? [text] : []));

/** Polls until the test is over. */
async function run(): Promise<void> {
  await new Promise<void>(
    (resolve) => void bot.start({ onStart: () => resolve(), allowed_updates: ["message", "edited_message", "callback_query", "message_reaction"] }),
  );
}

test("polls, understands what people do and answers in the same topic", async () => {
  const { id } = telegram.group({ forum: true });
  const topic = telegram.topic(id, "Plans");
  bot.command("start", (ctx) => ctx.reply(`hello ${ctx.from?.first_name}`));
  bot.on("message:text", (ctx) =>
    ctx.reply(`said ${ctx.message.text}`, ctx.message.is_topic_message ? { message_thread_id: ctx.message.message_thread_id! } : {}),
  );
  bot.on("edited_message:text", (ctx) => ctx.reply(`edited ${ctx.editedMessage.text}`));
  bot.on("message_reaction", (ctx) => ctx.api.sendMessage(ctx.chat.id, `reacted ${ctx.reactions().emojiAdded.join("")}`));
  bot.on("callback_query:data", async (ctx) => {
    await ctx.answerCallbackQuery("ok");
    await ctx.editMessageText(`picked ${ctx.callbackQuery.data}`);
  });
  await run();
  const said = telegram.say("/start");
  await expect.poll(() => bots(said.chatId)).toEqual(["hello Grace"]);
  telegram.say("in a topic", { chat: id, thread: topic });
  await expect.poll(() => telegram.messages(id).filter(({ byBot }) => byBot)).toMatchObject([{ text: "said in a topic", thread: topic }]);
  telegram.edit(telegram.say("x"), "y");
  await expect.poll(() => bots(said.chatId).slice(1)).toEqual(["said x", "edited y"]);
  telegram.react(said, "👍");
  await expect.poll(() => bots(said.chatId).at(-1)).toBe("reacted 👍");
  const { message_id: messageId } = await bot.api.sendMessage(said.chatId, "pick", { reply_markup: new InlineKeyboard().text("One", "1") });
  const { callbackId } = telegram.press({ chatId: said.chatId, messageId }, "One");
  await expect.poll(() => bots(said.chatId).at(-1)).toBe("picked 1");
  expect(telegram.callback(callbackId)).toMatchObject({ text: "ok" });
  await expect.poll(() => telegram.pending).toBe(0);
});

test("sends and fetches files", async () => {
  const { chatId, messageId } = telegram.say("see", { file: { kind: "photo", data: Buffer.from("photo"), name: "a.jpg" } });
  await bot.api.sendDocument(chatId, new InputFile(Buffer.from("bytes"), "notes.txt"), {
    caption: "<b>notes</b>",
    parse_mode: "HTML",
    reply_parameters: { message_id: messageId },
  });
  expect(telegram.messages(chatId).at(-1)).toMatchObject({ text: "notes", replyTo: messageId, media: { name: "notes.txt", data: Buffer.from("bytes") } });
  const sizes = telegram.message(chatId, messageId)!["photo"] as readonly { readonly file_id: string }[];
  const { file_path } = await bot.api.getFile(sizes.at(-1)!.file_id);
  const response = await fetch(`${telegram.apiRoot}/file/bot${telegram.token}/${file_path}`);
  expect(await response.text()).toBe("photo");
});

test("reads errors as what they are", async () => {
  const { chatId } = telegram.say("hi");
  telegram.fault("sendMessage", { retryAfter: 7 });
  const flood = await bot.api.sendMessage(chatId, "x").catch((error: unknown) => error);
  expect(flood).toBeInstanceOf(GrammyError);
  expect(flood).toMatchObject({ error_code: 429, parameters: { retry_after: 7 } });
  telegram.fault("sendMessage", { drop: "after" });
  expect(await bot.api.sendMessage(chatId, "x").catch((error: unknown) => error)).toBeInstanceOf(HttpError);
  const parse = await bot.api.sendMessage(chatId, "<h1>x</h1>", { parse_mode: "HTML" }).catch((error: unknown) => error);
  expect(parse).toMatchObject({ error_code: 400, description: expect.stringContaining("byte offset 0") as string });
});
