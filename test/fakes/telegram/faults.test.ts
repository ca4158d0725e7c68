import { afterEach, beforeEach, expect, test } from "vitest";
import { manualClock, type ManualClock } from "../../../src/base/clock.ts";
import { startTelegram, type FakeTelegram } from "./index.ts";
import { call } from "./raw-calls.ts";

let telegram: FakeTelegram;
let clock: ManualClock;
let chat_id: number;
beforeEach(async () => {
  clock = manualClock();
  telegram = await startTelegram({ clock });
  chat_id = telegram.say("/start").chatId;
});
afterEach(() => telegram[Symbol.asyncDispose]());

const send = (text: string, init: RequestInit = {}): ReturnType<typeof call> => call(telegram, "sendMessage", { chat_id, text }, init);
const shown = (): string[] => telegram.messages(chat_id).flatMap(({ byBot, text }) => (byBot ? [text] : []));

test("a flood is answered with the time to wait, as often as ordered", async () => {
  telegram.fault("sendMessage", { retryAfter: 3, times: 2 });
  for (const _ of [1, 2])
    expect(await send("a")).toEqual({ ok: false, error_code: 429, description: "Too Many Requests: retry after 3", parameters: { retry_after: 3 } });
  expect((await send("a")).ok).toBe(true);
  expect(shown()).toEqual(["a"]);
});

test("a chat takes so many messages in its time", async () => {
  telegram.limitRate({ messages: 2, perMs: 10_000 });
  await send("a");
  await send("b");
  expect(await send("c")).toMatchObject({ error_code: 429, parameters: { retry_after: 10 } });
  clock.advance(10_000);
  expect((await send("c")).ok).toBe(true);
  expect(shown()).toEqual(["a", "b", "c"]);
});

test("a connection that breaks before the effect leaves nothing, one after it leaves the message", async () => {
  telegram.fault("sendMessage", { drop: "before" });
  await expect(send("lost")).rejects.toThrow("fetch failed");
  expect(shown()).toEqual([]);
  telegram.fault("sendMessage", { drop: "after" });
  await expect(send("arrived")).rejects.toThrow("fetch failed");
  expect(shown()).toEqual(["arrived"]);
  expect(telegram.calls("sendMessage").map(({ hadEffect, status }) => [hadEffect, status])).toEqual([
    [false, 0],
    [true, 0],
  ]);
});

test("a connection stays open and nothing comes", async () => {
  telegram.fault("sendMessage", { silent: "after" });
  const gone = new AbortController();
  const sending = send("arrived", { signal: gone.signal });
  await expect.poll(shown).toEqual(["arrived"]);
  gone.abort();
  await expect(sending).rejects.toThrow("aborted");
});

test("any status and body, only for the calls that are meant", async () => {
  telegram.fault("*", { status: 502, body: "<html>bad gateway</html>", when: ({ text }) => text === "b" });
  expect((await send("a")).ok).toBe(true);
  const response = await fetch(`${telegram.apiRoot}/bot${telegram.token}/sendMessage?chat_id=${chat_id}&text=b`);
  expect([response.status, await response.text()]).toEqual([502, "<html>bad gateway</html>"]);
});

test("an answer comes late", async () => {
  telegram.fault("sendMessage", { delayMs: 5_000 });
  const sending = send("late");
  await expect.poll(() => telegram.calls("sendMessage").length).toBe(1);
  expect(shown()).toEqual([]);
  clock.advance(5_000);
  expect((await sending).ok).toBe(true);
});

test("a server that is down refuses connections, and is the same when it is up again", async () => {
  await send("before");
  const { apiRoot } = telegram;
  await telegram.down();
  await expect(send("meanwhile")).rejects.toThrow("fetch failed");
  await telegram.up();
  await send("after");
  expect(telegram.apiRoot).toBe(apiRoot);
  expect(shown()).toEqual(["before", "after"]);
});

test("a token that was revoked is unauthorized", async () => {
  const { token } = telegram;
  telegram.changeToken("7012345678:another");
  const response = await fetch(`${telegram.apiRoot}/bot${token}/getMe`);
  expect(response.status).toBe(401);
});
