import { afterEach, beforeEach, expect, test } from "vitest";
import { invalid } from "../../test/fakes/imessage/index.ts";
import { createEchoes } from "./echoes.ts";
import { ANNA, openBench, type Bench } from "./testing.ts";

let bench: Bench;
beforeEach(async () => {
  bench = await openBench();
});
afterEach(() => bench[Symbol.asyncDispose]());

const texts = (events: readonly { readonly text: string }[]): string[] => events.map(({ text }) => text);

test("the first start reads nothing of before, and what comes is handed over with its chat and sender", async () => {
  const { mac, direct, group } = bench;
  mac.say(ANNA, direct, "long ago");
  await using account = await bench.run();
  mac.say(ANNA, direct, "hi");
  mac.say("Bob@Example.org", group, "hello all");
  await account.event(({ text }) => text === "hello all");
  expect(account.events).toMatchObject([
    {
      kind: "message",
      text: "hi",
      chat: { type: "direct", id: ANNA },
      sender: { id: ANNA, e164: ANNA, otherIds: [`chat_id:${direct.id}`, `chat_guid:iMessage;-;${ANNA}`, `chat_identifier:${ANNA}`] },
      to: ANNA,
    },
    { text: "hello all", chat: { type: "group", id: String(group.id), title: "Workshop" }, sender: { id: "bob@example.org" }, to: `chat_id:${group.id}` },
  ]);
  expect(mac.started[0]).toEqual(["rpc", "--db", mac.dbPath]);
});

test("a program that ends is started again, behind the last row that is stored", async () => {
  const { mac, direct } = bench;
  await using account = await bench.run();
  mac.say(ANNA, direct, "one");
  await account.event(({ text }) => text === "one");
  mac.drop();
  mac.say(ANNA, direct, "two");
  mac.say(ANNA, direct, "three");
  await account.event(({ text }) => text === "three");
  expect(texts(account.events)).toEqual(["one", "two", "three"]);
  expect(mac.asked.filter(({ method }) => method === "watch.subscribe").map(({ params }) => params["since_rowid"])).toEqual([-1, 1]);
});

test("after a restart everything comes that was not stored, and what waited is marked", async () => {
  const { mac, direct } = bench;
  mac.say(ANNA, direct, "zero");
  const first = await bench.run({}, ({ text }) => {
    if (text === "two") throw new Error("the disk is full");
    return undefined;
  });
  mac.say(ANNA, direct, "one");
  await first.event(({ text }) => text === "one");
  mac.say(ANNA, direct, "two");
  await expect.poll(() => first.logs.some((line) => line.includes("the disk is full"))).toBe(true);
  await first.stop();
  mac.say(ANNA, direct, "three");
  await using second = await bench.run();
  await second.event(({ text }) => text === "three");
  mac.say(ANNA, direct, "four");
  await second.event(({ text }) => text === "four");
  expect(second.events.map(({ text, backlog }) => [text, backlog === true])).toEqual([
    ["two", true],
    ["three", true],
    ["four", false],
  ]);
});

test("nothing is lost where the first start found no messages at all", async () => {
  const { mac, direct } = bench;
  const first = await bench.run();
  await first.stop();
  mac.say(ANNA, direct, "the first one ever");
  await using second = await bench.run();
  await second.event(({ text }) => text === "the first one ever");
});

test("a version that takes no row before the first one is watched from now on", async () => {
  const { mac, direct } = bench;
  mac.faults.push({ on: "watch.subscribe", outcome: invalid("since_rowid must be positive") });
  await using account = await bench.run();
  mac.say(ANNA, direct, "hi");
  await account.event(({ text }) => text === "hi");
  expect(mac.asked.filter(({ method }) => method === "watch.subscribe").map(({ params }) => params)).toEqual([
    { since_rowid: -1, attachments: false, include_reactions: true },
    { attachments: false, include_reactions: true },
  ]);
});

test("rows that count from 1 again are read: the database is another one", async () => {
  const { mac, direct, stored } = bench;
  mac.say(ANNA, direct, "old");
  await (await bench.run()).stop();
  for (const key of stored.keys()) stored.set(key, 4711);
  await using account = await bench.run();
  mac.say(ANNA, direct, "new");
  await account.event(({ text }) => text === "new");
});

test("what we write is not heard, nor what comes back of it in a chat with oneself; others may write the same", async () => {
  const { mac, direct, group, channel } = bench;
  await using account = await bench.run();
  const own = mac.direct("claw@example.org");
  const sendTo = (to: string, text: string) => channel.outbound!.sendText!({ cfg: bench.cfg(), to, text });
  mac.features.ids = false;
  await sendTo("claw@example.org", "an answer");
  await sendTo(`chat_id:${group.id}`, "to all");
  mac.sayAsOwner(direct, "from the phone");
  mac.say("claw@example.org", own, "an answer");
  mac.say("bob@example.org", group, "to all");
  // Another person may write the same, and the account itself a second time.
  await sendTo(ANNA, "ok");
  mac.say(ANNA, direct, "ok");
  mac.say("claw@example.org", own, "an answer");
  mac.say(ANNA, direct, "end");
  await account.event(({ text }) => text === "end");
  expect(account.events.map(({ text, sender }) => `${sender.id}: ${text}`).toSorted()).toEqual(
    ["claw@example.org: an answer", "bob@example.org: to all", `${ANNA}: end`, `${ANNA}: ok`].toSorted(),
  );
});

test("a text comes back only from an address of ours, which is known from messages that came to it", () => {
  const echoes = createEchoes(() => 0);
  const comesBack = (sender: string): boolean => {
    echoes.sending(sender, "sure")();
    return echoes.isOwn({ guid: "g", text: "sure", sender, chats: [sender] });
  };
  expect(comesBack(ANNA)).toBe(false);
  expect(comesBack("claw@example.org")).toBe(false);
  echoes.receivedAt("claw@example.org");
  expect([comesBack("claw@example.org"), comesBack(ANNA)]).toEqual([true, false]);
});

test("a chat with several people is a group, and so is one that is configured as one, whatever imsg says", async () => {
  const { mac, direct } = bench;
  await using account = await bench.run({ groups: { [direct.id]: { systemPrompt: "Be brief.", skills: ["a"] } } });
  const odd = { ...mac.group("Odd", [ANNA, "x@y.z"]), guid: "iMessage;-;odd" };
  mac.add({ chat: odd, sender: ANNA, text: "in a group" });
  mac.say(ANNA, direct, "in a configured one");
  await account.event(({ text }) => text === "in a configured one");
  expect(account.events).toMatchObject([
    { chat: { type: "group", id: String(odd.id) } },
    { chat: { type: "group", id: String(direct.id) }, groupSystemPrompt: "Be brief.", skillFilter: ["a"] },
  ]);
});

test("without patterns a mention cannot be seen, with them it can", async () => {
  const { mac, group } = bench;
  await using account = await bench.run();
  mac.say(ANNA, group, "hello");
  expect(await account.event(({ text }) => text === "hello")).toMatchObject({ mention: { canDetect: false } });
});

test("tapbacks are handed over as reactions, and those that are taken back", async () => {
  const { mac, direct } = bench;
  await using account = await bench.run();
  const row = mac.say(ANNA, direct, "hi");
  mac.react(ANNA, row, "❤️");
  mac.react(ANNA, row, "❤️", false);
  await account.event(({ text }) => text.includes("took back"));
  expect(account.events.slice(1)).toMatchObject([
    { kind: "reaction", text: `iMessage reaction: ${ANNA} added ❤️ on message ${row.guid}`, context: { ReplyToId: row.guid } },
    { kind: "reaction", text: `iMessage reaction: ${ANNA} took back ❤️ on message ${row.guid}` },
  ]);
});

test("what a message answers is found, also when it was written before the start", async () => {
  const { mac, direct } = bench;
  const old = mac.say(ANNA, direct, "the old question");
  await using account = await bench.run();
  mac.say(ANNA, direct, "what about it?", { replyTo: old.guid });
  mac.say(ANNA, direct, "and this?", { replyTo: "GONE" });
  await account.event(({ text }) => text === "and this?");
  expect(account.events.map(({ replyTo }) => replyTo)).toEqual([{ id: old.guid, body: "the old question", sender: ANNA }, { id: "GONE" }]);
});

test("files are left out unless they are wanted, and their place is kept", async () => {
  const { mac, direct } = bench;
  const file = { name: "a.png", mime: "image/png", data: Buffer.from("png") };
  await using account = await bench.run();
  mac.say(ANNA, direct, "", { file });
  mac.say(ANNA, direct, "see", { file });
  await account.event(({ text }) => text === "see");
  expect(account.events.map(({ text, media }) => [text, media?.length])).toEqual([
    ["<media:attachment>", 0],
    ["see", 0],
  ]);
});

test("lines that make no sense are skipped, and a text of 10 MB comes whole", async () => {
  const { mac, direct } = bench;
  await using account = await bench.run();
  mac.write('nonsense\n{"jsonrpc":"2.0","method":"message","params":{"message":{"id":0}}}\n{"method":5}\n[]\n');
  const long = "x".repeat(10 * 1024 * 1024);
  mac.say(ANNA, direct, long);
  mac.say(ANNA, direct, "after");
  await account.event(({ text }) => text === "after");
  expect(account.events.map(({ text }) => text.length)).toEqual([long.length, 5]);
});

test("a watch that imsg gives up is begun again", async () => {
  const { mac, direct } = bench;
  await using account = await bench.run();
  mac.say(ANNA, direct, "one");
  await account.event(({ text }) => text === "one");
  mac.write('{"jsonrpc":"2.0","method":"error","params":{"subscription":1,"error":{"message":"database is locked"}}}\n');
  await expect.poll(() => mac.started.length).toBe(2);
  mac.say(ANNA, direct, "two");
  await account.event(({ text }) => text === "two");
  expect(account.logs.join("\n")).toContain("imsg stopped watching: database is locked");
});

test("a program that hangs is noticed and started again", async () => {
  await using slow = await openBench({ checkMs: 50, timeoutMs: 2000 });
  const { mac, direct } = slow;
  await using account = await slow.run();
  await expect.poll(() => mac.asked.filter(({ params }) => params["limit"] === 1 && !("chat_id" in params)).length).toBeGreaterThan(1);
  mac.freeze();
  await expect.poll(() => mac.started.length, { timeout: 30_000 }).toBe(2);
  mac.say(ANNA, direct, "back");
  await account.event(({ text }) => text === "back");
});

test("an account without Full Disk Access ends for good and says what to do", async () => {
  const { mac } = bench;
  await using account = await bench.run();
  mac.deny(true);
  expect(await account.ended).toMatchObject({ permanent: true, code: "FORBIDDEN" });
  expect(account.status).toMatchObject({ running: false, connected: false, lastError: expect.stringContaining("Full Disk Access") as string });
});

test("a program that is not there ends the account, and a Mac that cannot be reached does not", async () => {
  const { mac, direct, channel, delays } = bench;
  const { runChannelAccount } = await import("openclaw/plugin-sdk/testing");
  const missing = runChannelAccount(channel, { cfg: bench.cfg({ cliPath: `${mac.folder}/nothing` }) });
  expect(await missing.ended).toMatchObject({ permanent: true, code: "NOT_FOUND" });
  await using account = await bench.run();
  await mac.down();
  await expect.poll(() => delays.length).toBeGreaterThan(2);
  mac.say(ANNA, direct, "while it was away");
  await mac.up();
  await account.event(({ text }) => text === "while it was away");
  expect(delays.slice(0, 3)).toEqual([2000, 4000, 8000]);
});
