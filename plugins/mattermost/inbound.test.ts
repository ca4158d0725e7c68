import { afterEach, beforeEach, expect, test } from "vitest";
import { openBench, type Bench } from "./testing.ts";

let bench: Bench;
beforeEach(async () => {
  bench = await openBench();
});
afterEach(() => bench[Symbol.asyncDispose]());

test("each kind of chat has its type, its id and its address; threads are named by their first post", async () => {
  const { chat, anna, direct, group } = bench;
  const few = chat.channel({ name: "a-b-c", type: "G", members: [anna] });
  await using account = await bench.run();
  const root = chat.say(chat.bot, group, "the beginning");
  chat.say(anna, direct, "d");
  chat.say(anna, few, "g");
  chat.say(anna, group, "o", { rootId: root.id });
  await account.event(({ text }) => text === "o");
  const of = (wanted: string) => account.events.find(({ text }) => text === wanted);
  expect(of("d")).toMatchObject({ chat: { type: "direct", id: anna.id }, to: `user:${anna.id}`, sender: { id: anna.id, name: "Anna", username: "anna" } });
  expect(of("g")).toMatchObject({ chat: { type: "group", id: few.id }, to: `channel:${few.id}` });
  expect(of("o")).toMatchObject({
    chat: { type: "channel", id: group.id, threadId: root.id, channelName: "#town-square" },
    to: `channel:${group.id}`,
    replyTo: { id: root.id, body: "the beginning" },
  });
});

test("a mention is seen in the event and in the text, not in longer names", async () => {
  const { chat, anna, group } = bench;
  await using account = await bench.run();
  for (const text of ["@clawbot one", "@clawbot2 two", "mail@clawbot three", "hey @ClawBot, four"]) chat.say(anna, group, text);
  await account.event(({ text }) => text.endsWith("four"));
  expect(account.events.map(({ mention }) => mention?.mentioned)).toEqual([true, false, false, true]);
});

test("chatmode decides whether a mention is needed; a prefix counts as one and is taken off", async () => {
  const { channel, chat, anna, group } = bench;
  const needs = (more: Record<string, unknown>) => channel.groups!.resolveRequireMention!({ cfg: bench.cfg(more), groupId: group.id });
  expect([needs({}), needs({ requireMention: false }), needs({ chatmode: "onmessage" }), needs({ chatmode: "oncall", requireMention: false })]).toEqual([
    true,
    false,
    false,
    true,
  ]);
  expect(needs({ chatmode: "oncall", groups: { [group.id]: { requireMention: false } } })).toBe(false);
  await using account = await bench.run({ chatmode: "onchar", oncharPrefixes: ["?"] });
  for (const text of ["? status", "> no prefix", "plain"]) chat.say(anna, group, text);
  await account.event(({ text }) => text === "plain");
  expect(account.events.map(({ text, mention }) => [text, mention?.mentioned])).toEqual([
    ["status", true],
    ["> no prefix", false],
    ["plain", false],
  ]);
});

test("edits, deletions, reactions and members are reported; our own and the server's are not", async () => {
  const { chat, anna, group } = bench;
  const bob = chat.person({ username: "bob" });
  await using account = await bench.run();
  const post = chat.say(anna, group, "hi");
  chat.say(anna, group, "anna joined", { type: "system_join_channel" });
  chat.edit(anna, post, "hello");
  chat.react(anna, post, "eyes");
  chat.react(anna, post, "eyes", false);
  chat.react(chat.bot, post, "tada");
  chat.join(bob, group);
  chat.leave(bob, group);
  chat.remove(anna, post);
  await account.event(({ kind }) => kind === "notice");
  expect(account.events.map(({ kind, text }) => `${kind}: ${text.replaceAll(post.id, "ID")}`)).toEqual([
    "message: hi",
    "edit: hello",
    "reaction: Mattermost reaction: Anna added :eyes: on message ID",
    "reaction: Mattermost reaction: Anna took back :eyes: on message ID",
    "member: Mattermost: bob joined town-square",
    "member: Mattermost: bob left town-square",
    "notice: Mattermost: Anna deleted message ID",
  ]);
  expect(new Set(account.events.map(({ id }) => id)).size).toBe(account.events.length);
});

test("a webhook that writes in someone's name is not that person, and neither is a bot", async () => {
  const { chat, anna, group } = bench;
  const other = chat.person({ username: "otherbot", isBot: true });
  chat.join(other, group);
  await using account = await bench.run();
  chat.say(anna, group, "from a webhook", { props: { from_webhook: "true" } });
  chat.say(other, group, "from a bot");
  chat.say(anna, group, "from anna");
  await account.event(({ text }) => text === "from anna");
  expect(account.events.map(({ sender }) => sender.isBot === true)).toEqual([true, true, false]);
});

test("files are named with their type, and fetched when they are wanted, up to the limit", async () => {
  const { channel, chat, anna, direct } = bench;
  await using account = await bench.run();
  const data = Buffer.from("a picture");
  chat.say(anna, direct, "see", { files: [{ name: "cat.png", mime: "image/png", data }] });
  const { media } = await account.event(({ text }) => text === "see");
  expect(media).toMatchObject([{ kind: "image", mimeType: "image/png", fileName: "cat.png", bytes: data.length }]);
  const fetching = (maxBytes: number) =>
    channel.media!.fetch({ cfg: bench.cfg(), accountId: "default", ref: media![0]!.ref, maxBytes, signal: new AbortController().signal });
  expect(Buffer.from((await fetching(100)).data)).toEqual(data);
  await expect(fetching(3)).rejects.toThrow("larger than 3 bytes");
});
