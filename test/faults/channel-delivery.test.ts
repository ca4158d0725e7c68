import { expect, test } from "vitest";
import { startTelegram } from "../fakes/telegram/index.ts";
import { fastClock, openChannelPlace, saidBy } from "./channel-place.ts";

const TIMEOUT = { timeout: 90_000 };
const HOUR_MS = 3_600_000;

test("after 30 s without the platform everything that was written is answered, in order, and what was to be sent goes out once", TIMEOUT, async () => {
  await using telegram = await startTelegram();
  const began = Promise.withResolvers<void>();
  await using place = await openChannelPlace(telegram, {
    config: { messages: { queue: { mode: "followup", debounceMs: 0 } } } as never,
    says(heard) {
      began.resolve();
      return heard;
    },
  });
  await place.up();
  telegram.say("asked before @chunks=2 @gap=5000");
  await began.promise;
  await telegram.down();
  const down = place.clock.monotonic();
  for (let n = 0; n < 10; n += 1) telegram.say(`while it is away ${n}`);
  await expect.poll(() => place.channels.accounts()[0]!.snapshot.connected, { timeout: 20_000 }).toBe(false);
  await new Promise<void>((resolve) => void place.clock.after(30_000, resolve));
  expect(place.clock.monotonic() - down).toBeGreaterThanOrEqual(30_000);
  expect(saidBy(telegram, telegram.me.id)).toEqual([]);
  await telegram.up();
  await place.quiet();
  // What was written in between is a back-log: few answers for all of it, behind the one that was on its way.
  const texts = saidBy(telegram, telegram.me.id).map(({ text }) => text.match(/asked before|while it is away \d/g));
  expect([texts.flat(), texts.length < 11]).toEqual([["asked before", ...Array.from({ length: 10 }, (_, n) => `while it is away ${n}`)], true]);
  for (const { state, repeats } of await place.outbox()) expect([state, repeats]).toEqual(["sent", 0]);
});

test("429: the platform's time is waited for, and the message is sent once", TIMEOUT, async () => {
  await using telegram = await startTelegram();
  await using place = await openChannelPlace(telegram);
  telegram.fault("sendMessage", { retryAfter: 7, times: 2 });
  const { chatId } = telegram.say("slowly, please");
  await place.quiet();
  expect(saidBy(telegram, chatId)).toHaveLength(1);
  const tries = telegram.calls("sendMessage").map(({ status }) => status);
  expect(tries).toEqual([429, 429, 200]);
  const [row] = await place.outbox();
  expect(row).toMatchObject({ state: "sent", attempts: 3, repeats: 0 });
  expect(row!.settledAt! - row!.createdAt).toBeGreaterThanOrEqual(14_000);
});

test("marks that the platform cannot read: the same words go out plain, as one message", TIMEOUT, async () => {
  await using telegram = await startTelegram();
  await using place = await openChannelPlace(telegram, { says: () => "some **bold** words" });
  telegram.fault("sendMessage", {
    status: 400,
    description: "Bad Request: can't parse entities: Can't find end tag",
    when: (params) => params["parse_mode"] !== undefined,
  });
  const { chatId } = telegram.say("go");
  await place.quiet();
  expect(saidBy(telegram, chatId).map(({ text, entities }) => [text, entities])).toEqual([["some bold words", []]]);
  expect(await place.outbox()).toMatchObject([{ state: "sent", attempts: 1, repeats: 0 }]);
});

test("a message that arrived and whose receipt was lost comes once more, marked; one that the platform refused does not", TIMEOUT, async () => {
  await using telegram = await startTelegram();
  await using place = await openChannelPlace(telegram, { says: (heard) => /one|two/.exec(heard)?.[0] ?? "?" });
  telegram.fault("sendMessage", { drop: "after" });
  const { chatId } = telegram.say("one");
  await place.quiet();
  telegram.fault("sendMessage", { status: 400, description: "Bad Request: chat not found" });
  telegram.say("two");
  await place.quiet();
  expect(saidBy(telegram, chatId).map(({ text }) => text)).toEqual(["one", "(repeat?) one"]);
  expect((await place.outbox()).map(({ state, attempts, repeats, why }) => [state, attempts, repeats, why])).toEqual([
    ["failed", 1, 0, expect.stringContaining("chat not found")],
    ["sent", 2, 1, expect.any(String)],
  ]);
});

test("a message whose receipt is lost twice is not sent a third time, and the outbox says so", TIMEOUT, async () => {
  await using telegram = await startTelegram();
  await using place = await openChannelPlace(telegram, { says: () => "hello" });
  // The question whether messages are taken again has no text.
  telegram.fault("sendMessage", { drop: "after", times: 2, when: ({ text }) => text !== "" });
  const { chatId } = telegram.say("go");
  await place.quiet();
  expect(saidBy(telegram, chatId).map(({ text }) => text)).toEqual(["hello", "(repeat?) hello"]);
  expect(await place.outbox()).toMatchObject([{ state: "failed", attempts: 2, repeats: 1, why: expect.stringContaining("it may have arrived") }]);
});

test("a wall clock that jumps back or forth loses and repeats nothing", TIMEOUT, async () => {
  await using telegram = await startTelegram();
  const clock = fastClock(20);
  await using place = await openChannelPlace(telegram, { clock });
  const { chatId } = telegram.say("now");
  await place.quiet();
  clock.jump(-3 * HOUR_MS);
  telegram.say("three hours ago");
  await place.quiet();
  telegram.fault("sendMessage", { retryAfter: 20 });
  telegram.say("half a day ahead");
  await telegram.called("sendMessage", ({ status }) => status === 429);
  clock.jump(12 * HOUR_MS);
  await place.quiet();
  telegram.say("and on");
  await place.quiet();
  const expected = ["now", "three hours ago", "half a day ahead", "and on"];
  const texts = saidBy(telegram, chatId).map(({ text }) => text);
  expect(texts).toHaveLength(expected.length);
  for (const [at, words] of expected.entries()) expect(texts[at]).toContain(words);
  for (const { state, repeats } of await place.outbox()) expect([state, repeats]).toEqual(["sent", 0]);
});

test("an answer that could not be sent for a day is not sent any more, and the outbox says why", TIMEOUT, async () => {
  await using telegram = await startTelegram();
  const clock = fastClock(20);
  await using place = await openChannelPlace(telegram, { clock });
  telegram.fault("sendMessage", { retryAfter: 20 });
  const { chatId } = telegram.say("too late");
  await telegram.called("sendMessage", ({ status }) => status === 429);
  clock.jump(25 * HOUR_MS);
  await place.quiet();
  expect(saidBy(telegram, chatId)).toEqual([]);
  expect(await place.outbox()).toMatchObject([{ state: "failed", why: expect.stringContaining("expired") }]);
});

test("an answer that is shown while it is written does not overtake one that is still on its way", TIMEOUT, async () => {
  await using telegram = await startTelegram();
  await using place = await openChannelPlace(telegram, {
    settings: { streamMode: "partial" },
    config: { messages: { queue: { mode: "followup", debounceMs: 0 } } } as never,
    says: (heard) => (heard.includes("go on") ? "the second answer is long enough to be shown early @chunks=4 @gap=2000" : "first"),
  });
  telegram.fault("sendMessage", { retryAfter: 40 });
  const { chatId } = telegram.say("go");
  await telegram.called("sendMessage", ({ status }) => status === 429);
  telegram.say("go on");
  await place.quiet();
  expect(saidBy(telegram, chatId).map(({ text }) => text)).toEqual(["first", expect.stringContaining("the second answer")]);
  for (const { state, repeats } of await place.outbox()) expect([state, repeats]).toEqual(["sent", 0]);
});
