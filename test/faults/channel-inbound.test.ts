import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { AppError } from "../../src/base/errors.ts";
import { startTelegram } from "../fakes/telegram/index.ts";
import { openChannelPlace, saidBy } from "./channel-place.ts";

const TIMEOUT = { timeout: 90_000 };

test("an update that comes again and again, and a message under two numbers, are answered once", TIMEOUT, async () => {
  await using telegram = await startTelegram();
  await using place = await openChannelPlace(telegram);
  const { updateId, chatId, messageId } = telegram.say("only once");
  await place.quiet();
  for (let time = 0; time < 3; time += 1) {
    telegram.redeliver(updateId!);
    await place.quiet();
  }
  telegram.raw({ message: telegram.message(chatId, messageId)! });
  telegram.say("and this");
  await place.quiet();
  expect(saidBy(telegram, chatId).map(({ text }) => text)).toEqual([expect.stringContaining("only once"), expect.stringContaining("and this")]);
  expect((await place.inbox()).map(({ outcome }) => outcome)).toEqual(["answered", "answered"]);
  expect((await place.outbox()).map(({ state, attempts }) => [state, attempts])).toEqual([
    ["sent", 1],
    ["sent", 1],
  ]);
});

test("messages that come in another order than they were written are answered in the order in which they came", TIMEOUT, async () => {
  await using telegram = await startTelegram();
  await using place = await openChannelPlace(telegram, { config: { messages: { queue: { mode: "followup", debounceMs: 0 } } } as never });
  const chat = telegram.direct(telegram.me);
  const written = (id: number) => ({ message_id: id, date: 1_790_000_000 - id, chat, from: telegram.me, text: `number ${id}` });
  for (const id of [903, 901, 902]) telegram.raw({ message: written(id) });
  await place.quiet();
  expect(saidBy(telegram, chat.id).flatMap(({ text }) => text.match(/number \d+/g))).toEqual(["number 903", "number 901", "number 902"]);
  expect((await place.inbox()).map(({ outcome }) => outcome)).toEqual(["answered", "answered", "answered"]);
});

test("what comes while the gateway stops is answered by the next one, once", TIMEOUT, async () => {
  await using telegram = await startTelegram();
  const folder = mkdtempSync(join(tmpdir(), "channel-faults-"));
  {
    await using place = await openChannelPlace(telegram, { folder, graceMs: 0 });
    await place.up();
    telegram.say("before @chunks=1000 @gap=1000");
    await telegram.called("sendChatAction");
    const ending = place[Symbol.asyncDispose]();
    for (let n = 0; n < 5; n += 1) telegram.say(`while it stops ${n}`);
    await ending;
    telegram.say("after it stopped");
  }
  expect(saidBy(telegram, telegram.me.id)).toEqual([]);
  await using next = await openChannelPlace(telegram, { folder, says: (heard) => heard.replaceAll("@chunks=1000 @gap=1000", "") });
  await next.quiet();
  const all = saidBy(telegram, telegram.me.id)
    .map(({ text }) => text)
    .join("\n");
  for (const said of ["before", "while it stops 0", "while it stops 4", "after it stopped"]) expect(all.split(said), said).toHaveLength(2);
  expect(new Set((await next.inbox()).map(({ outcome }) => outcome))).toEqual(new Set(["answered"]));
  expect(await next.inbox()).toHaveLength(7);
  await next[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

test("updates that nobody understands are listed and hold up nothing", TIMEOUT, async () => {
  await using telegram = await startTelegram();
  await using place = await openChannelPlace(telegram);
  const chat = telegram.direct(telegram.me);
  const bad = [
    { message: 5 },
    { message: {} },
    { message: { message_id: 1, chat } },
    { message: { message_id: 2, from: telegram.me, text: "nowhere" } },
    { message: { message_id: "3", chat, from: telegram.me, text: "no number" } },
    { edited_message: [] },
    { callback_query: "x" },
    { something_of_next_year: { chat } },
    {},
  ];
  for (const update of bad) telegram.raw(update);
  telegram.say("still there?");
  await place.quiet();
  expect(saidBy(telegram, chat.id).map(({ text }) => text)).toEqual([expect.stringContaining("still there?")]);
  const [account] = place.channels.accounts();
  const { skippedUpdates } = account!.snapshot["application"] as { skippedUpdates: { count: number; last: { why: string }[] } };
  expect(skippedUpdates.count).toBeGreaterThanOrEqual(5);
  for (const { why } of skippedUpdates.last) expect(why).not.toBe("");
});

test("a message that the host calls wrong is offered three times, then listed, and its chat goes on", TIMEOUT, async () => {
  await using telegram = await startTelegram();
  let offers = 0;
  await using place = await openChannelPlace(telegram, {
    offered({ text }) {
      if (text !== "poison") return;
      offers += 1;
      throw new AppError("INVALID_INPUT", "this cannot be a message");
    },
  });
  const { chatId, updateId } = telegram.say("poison");
  telegram.say("after it");
  await place.quiet();
  expect(offers).toBe(3);
  expect(saidBy(telegram, chatId).map(({ text }) => text)).toEqual([expect.stringContaining("after it")]);
  const [account] = place.channels.accounts();
  expect(account!.snapshot["application"]).toMatchObject({
    skippedUpdates: { count: 1, last: [{ updateId, why: expect.stringContaining("cannot be a message") }] },
  });
});

test("a turn that takes the process with it is tried at most three times more, then its sender is notified, and the chat is free", TIMEOUT, async () => {
  await using telegram = await startTelegram();
  const folder = mkdtempSync(join(tmpdir(), "channel-faults-"));
  let calls = 0;
  const says = (heard: string): string => {
    if (!heard.includes("poison")) return heard;
    calls += 1;
    return "never said @chunks=9999 @gap=60000";
  };
  telegram.say("poison");
  let lives = 0;
  for (; lives < 10 && saidBy(telegram, telegram.me.id).length === 0; lives += 1) {
    const seen = calls;
    await using _life = await openChannelPlace(telegram, { folder, says, graceMs: 0 });
    await expect.poll(() => calls > seen || saidBy(telegram, telegram.me.id).length > 0, { timeout: 20_000, interval: 5 }).toBe(true);
  }
  expect(calls).toBeLessThanOrEqual(4);
  expect(saidBy(telegram, telegram.me.id).map(({ text }) => text)).toEqual([expect.stringContaining("Please send it again")]);
  await using place = await openChannelPlace(telegram, { folder, says });
  telegram.say("and now?");
  await place.quiet();
  expect(saidBy(telegram, telegram.me.id).at(-1)?.text).toContain("and now?");
  expect((await place.inbox()).map(({ outcome }) => outcome)).toEqual(["answered", "failed"]);
  await place[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});
