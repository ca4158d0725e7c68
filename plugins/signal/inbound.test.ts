import { afterEach, beforeEach, expect, test } from "vitest";
import { openBench, type Bench } from "./testing.ts";

let bench: Bench;
beforeEach(async () => {
  bench = await openBench();
});
afterEach(() => bench[Symbol.asyncDispose]());

/** What came, once the last thing that was said in every chat is there. */
async function end(account: Awaited<ReturnType<Bench["run"]>>) {
  const { signal, anna, zoe, group } = bench;
  for (const [who, more] of [
    [anna, {}],
    [zoe, {}],
    [anna, { group }],
  ] as const)
    signal.world.say(who, "the end", more);
  await expect.poll(() => account.events.filter(({ text }) => text === "the end").length).toBe(3);
  return account.events.filter(({ text }) => text !== "the end");
}

test("direct chats and groups have their ids and addresses; people are known by number, else by uuid", async () => {
  const { signal, anna, zoe, group } = bench;
  await using account = await bench.run();
  const { timestamp } = signal.world.say(anna, "direct");
  signal.world.say(zoe, "hidden");
  const inGroup = signal.world.say(zoe, "grouped", { group });
  const events = await end(account);
  expect(["direct", "hidden", "grouped"].map((wanted) => events.find(({ text }) => text === wanted))).toMatchObject([
    {
      kind: "message",
      id: String(timestamp),
      chat: { type: "direct", id: anna.number },
      to: anna.number,
      at: timestamp,
      sender: { id: anna.number, otherIds: [`uuid:${anna.uuid}`], name: "Anna", e164: anna.number },
      context: { MessageSid: String(timestamp) },
    },
    { chat: { type: "direct", id: `uuid:${zoe.uuid}` }, to: `uuid:${zoe.uuid}`, sender: { id: `uuid:${zoe.uuid}` } },
    {
      id: `${inGroup.timestamp}:uuid:${zoe.uuid}`,
      chat: { type: "group", id: group.id, title: "Team" },
      to: `group:${group.id}`,
      context: { MessageSid: String(inGroup.timestamp) },
    },
  ]);
});

test("mentions are shown by id; one of the bot counts, by number and by uuid", async () => {
  const { signal, anna, zoe, group } = bench;
  await using account = await bench.run();
  const { me } = signal.world;
  const at = (start: number, who: typeof me) => ({ start, length: 1, who });
  signal.world.say(anna, "🎉 \uFFFC and \uFFFC look", { group, mentions: [at(3, me), at(9, zoe)] });
  signal.world.say(anna, "\uFFFC?", { group, mentions: [at(0, { ...me, number: null })] });
  signal.world.say(anna, "\uFFFC!", { group, mentions: [at(0, zoe), at(7, zoe), at(-1, zoe)] });
  expect((await end(account)).map(({ text, mention }) => [text, mention?.mentioned, mention?.others])).toEqual([
    [`🎉 @${me.number} and @uuid:${zoe.uuid} look`, true, true],
    [`@uuid:${me.uuid}?`, true, false],
    [`@uuid:${zoe.uuid}!`, false, true],
  ]);
  const patterns = bench.channel.mentions!.stripPatterns!({ ctx: { AccountId: "default" }, cfg: bench.cfg() });
  expect(patterns.map((pattern) => new RegExp(pattern).test(`@${me.number} hi`) || new RegExp(pattern).test(`@uuid:${me.uuid} hi`))).toEqual([true, true]);
});

test("what a message answers, all its files and a sticker are there", async () => {
  const { signal, anna } = bench;
  await using account = await bench.run();
  const files = ["a.png", "b.pdf"].map((name) => ({ name, mime: name.endsWith("png") ? "image/png" : "application/pdf", data: Buffer.from(name) }));
  signal.world.say(anna, "see", { files, quote: { timestamp: 1_700_000_000_000, author: signal.world.me.number!, message: "earlier" } });
  signal.world.say(anna, "", { data: { message: null, sticker: { packId: "p", stickerId: 1 } } });
  const [see, sticker] = await end(account);
  expect(see).toMatchObject({ replyTo: { id: "1700000000000", body: "earlier", sender: signal.world.me.number, isQuote: true } });
  expect(see!.media!.map(({ kind, fileName, bytes }) => [kind, fileName, bytes])).toEqual([
    ["image", "a.png", 5],
    ["document", "b.pdf", 5],
  ]);
  expect(sticker).toMatchObject({ kind: "message", text: "<media:sticker>" });
  const fetched = await bench.channel.media!.fetch({
    cfg: bench.cfg(),
    accountId: "default",
    ref: see!.media![1]!.ref,
    maxBytes: 100,
    signal: AbortSignal.timeout(5000),
  });
  expect(Buffer.from(fetched.data).toString("utf8")).toBe("b.pdf");
  const small = { cfg: bench.cfg(), accountId: "default", ref: see!.media![1]!.ref, maxBytes: 3, signal: AbortSignal.timeout(5000) };
  await expect(bench.channel.media!.fetch(small)).rejects.toThrow("more than 3 bytes");
  await expect(bench.channel.media!.fetch({ ...small, ref: { id: "../../etc/passwd" } })).rejects.toThrow("needs an id and a chat");
});

test("ignoreAttachments takes the text and no file", async () => {
  const { signal, anna } = bench;
  await using account = await bench.run({ ignoreAttachments: true });
  const files = [{ name: "a.png", mime: "image/png", data: Buffer.from("x") }];
  signal.world.say(anna, "see", { files });
  signal.world.say(anna, "", { files });
  expect((await end(account)).map(({ text, media }) => [text, media])).toEqual([["see", undefined]]);
});

test("edits, deletions and changes of a group are events of their own that start nothing", async () => {
  const { signal, anna, group } = bench;
  await using account = await bench.run();
  const { timestamp } = signal.world.say(anna, "frist", { group });
  signal.world.edit(anna, timestamp, "first", { group });
  signal.world.unsend(anna, timestamp, group);
  signal.world.groupChanged(anna, group);
  const events = await end(account);
  expect(events.slice(1)).toMatchObject([
    { kind: "edit", text: "first", context: { MessageSid: String(timestamp) }, chat: { id: group.id } },
    { kind: "notice", text: `Signal: Anna deleted message ${timestamp}` },
    { kind: "notice", text: "Signal: Anna changed the group" },
  ]);
  expect(new Set(events.map(({ id }) => id)).size).toBe(4);
});

test.each([
  ["off", []],
  ["own", ["anna:own"]],
  ["all", ["anna:other", "anna:own", "zoe:other"]],
  ["allowlist", ["zoe:other"]],
])("reactionNotifications %s reports %j", async (reactionNotifications, expected) => {
  const { signal, anna, zoe, group } = bench;
  await using account = await bench.run({ reactionNotifications, reactionAllowlist: [`uuid:${zoe.uuid.toUpperCase()}`] });
  const { world } = signal;
  world.react(anna, "👍", { author: world.me, timestamp: 1_700_000_000_001 });
  world.react(anna, "👎", { author: zoe, timestamp: 1_700_000_000_002 }, group);
  world.react(zoe, "👎", { author: anna, timestamp: 1_700_000_000_003 }, group, true);
  const seen = (await end(account))
    .filter(({ kind }) => kind === "reaction")
    .map(({ sender, text }) => `${sender.name!.toLowerCase()}:${text.includes("👍") ? "own" : "other"}`);
  expect(seen.toSorted()).toEqual(expected);
});

test("receipts, typing, stories, calls, what we wrote ourselves and what is for another account are nothing", async () => {
  const { signal, anna } = bench;
  await using account = await bench.run();
  const { me, now, envelope, emit } = signal.world;
  const time = now();
  for (const content of [
    { receiptMessage: { when: time, isRead: true, timestamps: [time] } },
    { typingMessage: { action: "STARTED", timestamp: time } },
    { callMessage: { offerMessage: { id: 1 } } },
    { storyMessage: { allowsReplies: true } },
    { dataMessage: { timestamp: time, message: null, expiresInSeconds: 60, isExpirationUpdate: true } },
    { syncMessage: { sentMessage: { timestamp: time, message: "from my phone", destination: anna.number } } },
  ])
    emit(envelope(anna, time, content));
  emit(envelope(me, time, { dataMessage: { timestamp: time, message: "our own" } }));
  emit(envelope({ ...me, number: null }, time, { dataMessage: { timestamp: time, message: "our own, hidden" } }));
  signal.raw(JSON.stringify({ account: "+15551112222", envelope: envelope(anna, time, { dataMessage: { timestamp: time, message: "for another" } }) }));
  expect(await end(account)).toEqual([]);
});

test("events of subscriptions and notifications are read as well, and answers to stories where they are wanted", async () => {
  const { signal, anna } = bench;
  const { envelope, now } = signal.world;
  const wrapped = (text: string, data: object = {}) => {
    const timestamp = now();
    return envelope(anna, timestamp, { dataMessage: { timestamp, message: text, ...data } });
  };
  const bring = (): void => {
    signal.raw(JSON.stringify({ subscription: 0, result: { envelope: wrapped("one") } }));
    signal.raw(JSON.stringify({ jsonrpc: "2.0", method: "receive", params: { envelope: wrapped("two") } }));
    signal.raw(JSON.stringify({ envelope: wrapped("three", { storyContext: { author: "x" } }) }));
  };
  const first = await bench.run();
  bring();
  expect((await end(first)).map(({ text }) => text)).toEqual(["one", "two", "three"]);
  await first.stop();
  await using second = await bench.run({ ignoreStories: true });
  bring();
  expect((await end(second)).map(({ text }) => text)).toEqual(["one", "two"]);
});

test("hostile frames start nothing and stop nothing; a text of 10 MB is handed over", async () => {
  const { signal, anna } = bench;
  await using account = await bench.run();
  const strange: unknown[] = [null, 5, "x", [], {}, { envelope: [] }, { envelope: { source: {}, timestamp: "1" } }];
  const fields = [null, 5.5, [], {}, "x", -1, 1e30];
  for (const value of fields) {
    strange.push({ envelope: { sourceNumber: anna.number, timestamp: value, dataMessage: { message: "bad" } } });
    strange.push({ envelope: { sourceNumber: value, sourceUuid: value, timestamp: 1, dataMessage: { timestamp: 1, message: "bad" } } });
    strange.push({ envelope: { sourceNumber: anna.number, timestamp: 5, dataMessage: { timestamp: 5, reaction: value, remoteDelete: value } } });
    strange.push({ envelope: { sourceNumber: anna.number, timestamp: 5, editMessage: { targetSentTimestamp: value, dataMessage: value } } });
  }
  for (const frame of strange) signal.raw(JSON.stringify(frame));
  for (const text of ["{", "\u0000", "data:", "undefined"]) signal.raw(text);
  signal.bytes("id:\nevent:\n\nretry: 5\n\n");
  const long = "x".repeat(10 * 1024 * 1024);
  signal.world.say(anna, long);
  expect((await end(account)).map(({ text }) => text.length)).toEqual([long.length]);
  expect(account.status.connected).toBe(true);
});
