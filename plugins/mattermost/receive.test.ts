import { afterEach, beforeEach, expect, test } from "vitest";
import { openBench, type Bench } from "./testing.ts";

let bench: Bench;
beforeEach(async () => {
  bench = await openBench();
});
afterEach(() => bench[Symbol.asyncDispose]());

const missedAsked = (): number => bench.chat.server.asked.filter(({ query }) => query.has("since")).length;

test("a connection that breaks is resumed, and brings what was written meanwhile", async () => {
  const { chat, anna, direct } = bench;
  await using account = await bench.run();
  chat.say(anna, direct, "one");
  await account.event(({ text }) => text === "one");
  chat.server.drop();
  chat.say(anna, direct, "two");
  chat.say(anna, direct, "three");
  await account.event(({ text }) => text === "three");
  expect(account.events.map(({ text }) => text)).toEqual(["one", "two", "three"]);
  expect([chat.begun, chat.resumed, missedAsked()]).toEqual([1, 1, 0]);
});

test("where a connection cannot be resumed, posts of all channels are fetched, without deleted ones and earlier texts", async () => {
  const { chat, anna, direct, group } = bench;
  await using account = await bench.run();
  const old = chat.say(anna, direct, "old");
  await account.event(({ text }) => text === "old");
  await chat.server.close();
  chat.forgetConnections();
  // Beyond the margin that is read twice.
  chat.step(60_000);
  chat.edit(anna, chat.say(anna, direct, "first try"), "second try");
  chat.remove(anna, chat.say(anna, direct, "gone"));
  chat.say(chat.bot, direct, "our own");
  chat.edit(anna, old, "old, edited");
  chat.say(anna, group, "elsewhere");
  await chat.server.open();
  await account.event(({ text }) => text === "elsewhere");
  // What came just before is read twice; the inbox knows it.
  const missed = account.events
    .slice(1)
    .filter(({ id, kind }) => kind === "edit" || id !== old.id)
    .map(({ kind, text, backlog, chat: { type } }) => [kind, text, backlog === true, type]);
  expect(missed.toSorted((a, b) => String(a).localeCompare(String(b)))).toEqual([
    ["edit", "old, edited", false, "direct"],
    ["message", "elsewhere", true, "channel"],
    ["message", "second try", true, "direct"],
  ]);
  chat.say(anna, direct, "after");
  await account.event(({ text }) => text === "after");
});

test("the first start reads no history", async () => {
  const { chat, anna, direct } = bench;
  chat.say(anna, direct, "long ago");
  await using account = await bench.run();
  chat.say(anna, direct, "now");
  await account.event(({ text }) => text === "now");
  expect(account.events.map(({ text }) => text)).toEqual(["now"]);
});

test("after a restart everything comes that was not stored, also when the server has forgotten the connection", async () => {
  const { chat, anna, direct } = bench;
  const taken: string[] = [];
  const first = await bench.run({}, ({ text }) => {
    if (text === "two") throw new Error("the disk is full");
    taken.push(text);
    return undefined;
  });
  chat.say(anna, direct, "one");
  await first.event(({ text }) => text === "one");
  chat.say(anna, direct, "two");
  await expect.poll(() => first.logs.some((line) => line.includes("the disk is full"))).toBe(true);
  await first.stop();
  chat.forgetConnections();
  chat.say(anna, direct, "three");
  await using second = await bench.run();
  await second.event(({ text }) => text === "three");
  expect(second.events.map(({ text }) => text).filter((text) => text !== "one")).toEqual(["two", "three"]);
});

test("more than a thousand missed posts come all, in order", async () => {
  const { chat, anna, direct } = bench;
  const first = await bench.run();
  chat.say(anna, direct, "begin");
  await first.event(({ text }) => text === "begin");
  await first.stop();
  chat.forgetConnections();
  chat.step(60_000);
  const texts = Array.from({ length: 1100 }, (_, n) => `post ${n}`);
  for (const text of texts) chat.say(anna, direct, text);
  await using second = await bench.run();
  await second.event(({ text }) => text === texts.at(-1));
  expect(second.events.map(({ text }) => text).filter((text) => text !== "begin")).toEqual(texts);
});

test("an event that is missing is noticed: the connection is made again and brings it", async () => {
  const { chat, anna, direct } = bench;
  await using account = await bench.run();
  chat.say(anna, direct, "hi");
  await account.event(({ text }) => text === "hi");
  for (const frame of ["{broken", { nothing: true }, { event: "posted", data: { post: "[]" }, broadcast: {}, seq: 7 }]) chat.server.sockets[0]!.send(frame);
  await expect.poll(() => chat.resumed).toBe(1);
  chat.say(anna, direct, "still here");
  await account.event(({ text }) => text === "still here");
});

test("a resumed connection that has a gap again is given up for a new one, and nothing is lost", async () => {
  const { chat, anna, direct } = bench;
  await using account = await bench.run();
  chat.say(anna, direct, "hi");
  await account.event(({ text }) => text === "hi");
  const odd = (event: unknown, seq: number): object => ({ event, data: {}, broadcast: {}, seq });
  chat.server.sockets[0]!.send(odd("posted", 77));
  await expect.poll(() => [chat.resumed, chat.server.sockets.length]).toEqual([1, 1]);
  chat.server.sockets[0]!.send(odd("posted", 78));
  await expect.poll(() => account.logs.some((line) => line.includes("could not be resumed"))).toBe(true);
  chat.say(anna, direct, "still here");
  await account.event(({ text }) => text === "still here");
  expect(account.events.filter(({ text }) => text === "still here")).toHaveLength(1);
  expect(chat.resumed).toBe(1);
});

test("a token that is revoked ends the account for good, once", async () => {
  const { chat } = bench;
  await using account = await bench.run();
  chat.revoke(chat.token);
  chat.server.drop();
  expect(await account.ended).toMatchObject({ permanent: true, status: 401 });
  const asked = chat.server.asked.length;
  expect(account.status).toMatchObject({ running: false, connected: false, lastError: expect.stringContaining("botToken") as string });
  expect(account.logs.join("\n")).not.toContain(chat.token);
  expect(chat.server.asked).toHaveLength(asked);
});

test("a server that fails is asked less and less often", async () => {
  const { chat, anna, direct, delays } = bench;
  await using account = await bench.run();
  chat.say(anna, direct, "hi");
  await account.event(({ text }) => text === "hi");
  chat.server.faults.add({ on: "/users/me", status: 503, times: 3 });
  chat.server.drop();
  await expect.poll(() => chat.resumed).toBe(1);
  expect(delays.slice(0, 4).map((ms) => Math.round(ms / 1000))).toEqual([2, 4, 8, 16]);
  await account.shows(({ connected }) => connected === true);
});
