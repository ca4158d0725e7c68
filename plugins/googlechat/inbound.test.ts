import { afterEach, beforeEach, expect, test } from "vitest";
import { type Bench, openBench } from "./testing.ts";

let bench: Bench;
beforeEach(async () => {
  bench = await openBench();
});
afterEach(() => bench[Symbol.asyncDispose]());

type Fields = Record<string, unknown>;
const eventOf = (...said: Parameters<Bench["chat"]["say"]>): Fields => bench.chat.messageEvent(bench.chat.say(...said)) as Fields;

test("each kind of chat has its type, its id and its address; replies in a thread are answered there", async () => {
  const { chat, anna, direct, space } = bench;
  const root = chat.say(anna, space, "the beginning");
  const [inDirect] = await bench.read(eventOf(anna, direct, "d"));
  const [top] = await bench.read(eventOf(anna, space, "top", { mention: true }));
  const [reply] = await bench.read(eventOf(anna, space, "reply", { mention: true, thread: root.thread }));
  expect(inDirect).toMatchObject({ kind: "message", chat: { type: "direct", id: direct.name }, to: direct.name, sender: { id: anna.name, name: "Anna" } });
  expect(top).toMatchObject({ chat: { type: "group", id: space.name, title: "workshop" }, to: space.name, text: "top" });
  expect(reply).toMatchObject({ chat: { type: "group", id: space.name }, to: root.thread, replyTo: { id: root.thread } });
  expect([inDirect!.chat.threadId, reply!.chat.threadId]).toEqual([undefined, undefined]);
});

test("events of add-ons are the same events", async () => {
  const { chat, anna, direct } = bench;
  const message = chat.say(anna, direct, "hi");
  const [classic] = await bench.read(chat.messageEvent(message));
  chat.asAddOn();
  const [addOn] = await bench.read(chat.messageEvent(message));
  expect(addOn).toEqual(classic);
  expect(chat.messageEvent(message)).toHaveProperty("commonEventObject.hostApp", "CHAT");
});

test("who is named is read from annotations; the app's own user tells it from other apps", async () => {
  const { chat, anna, space } = bench;
  const other = chat.world.addUser("Other", "BOT");
  const bob = chat.person("Bob");
  const mention = async (more: object, config = {}) => (await bench.read(eventOf(anna, space, "x", more), config))[0]!.mention;
  expect(await mention({ mention: true })).toEqual({ mentioned: true, others: false });
  expect(await mention({ others: [bob] })).toEqual({ mentioned: false, others: true });
  expect(await mention({})).toEqual({ mentioned: false, others: false });
  expect(await mention({ others: [other] })).toEqual({ mentioned: true, others: false });
  expect(await mention({ others: [other] }, { botUser: chat.bot.name })).toEqual({ mentioned: false, others: true });
  expect(await mention({ mention: true }, { botUser: chat.bot.name.slice("users/".length) })).toEqual({ mentioned: true, others: false });
});

test("the name of the app is taken off, and only that", async () => {
  const { chat, anna, space } = bench;
  const bob = chat.person("Bob");
  const [named] = await bench.read(eventOf(anna, space, "ask him", { mention: true, others: [bob] }));
  expect(named!.text).toBe("@Bob ask him");
  const [unnamed] = await bench.read(eventOf(anna, space, "ask him", { others: [bob] }));
  expect(unnamed!.text).toBe("@Bob ask him");
});

test("a slash command is a command, in both forms", async () => {
  const { chat, anna, direct } = bench;
  const event = chat.messageEvent(chat.say(anna, direct, "/status now")) as { message: object };
  const slash = { ...event, message: { ...event.message, slashCommand: { commandId: "1" }, argumentText: " now" } };
  expect(await bench.read(slash)).toMatchObject([{ kind: "command", text: "/status now" }]);
  expect(await bench.read({ ...event, type: "APP_COMMAND" })).toMatchObject([{ kind: "command" }]);
});

test("a quoted message is shown with its text", async () => {
  const { chat, anna, direct } = bench;
  const sent = await bench.channel.outbound!.sendText!({ cfg: bench.cfg(), to: direct.name, text: "the plan" });
  const [event] = await bench.read(eventOf(anna, direct, "this one?", { quoted: sent.messageId }));
  expect(event!.replyTo).toEqual({ id: sent.messageId, body: "the plan", sender: "Claw", isQuote: true });
  chat.world.remove(sent.messageId);
  const [gone] = await bench.read(eventOf(anna, direct, "and now?", { quoted: sent.messageId }));
  expect(gone!.replyTo).toEqual({ id: sent.messageId, isQuote: true });
});

test("the app's way in and out of spaces is reported; a message that adds it is read as well", async () => {
  const { chat, anna, space, direct } = bench;
  const said = chat.messageEvent(chat.say(anna, space, "hello", { mention: true })) as Fields;
  const { message: _message, ...without } = said;
  expect(await bench.read({ ...without, type: "ADDED_TO_SPACE" })).toMatchObject([{ kind: "member", text: "Google Chat: Anna added the app to workshop" }]);
  expect(await bench.read({ ...without, type: "REMOVED_FROM_SPACE" })).toMatchObject([
    { kind: "member", text: "Google Chat: Anna removed the app from workshop" },
  ]);
  expect((await bench.read({ ...said, type: "ADDED_TO_SPACE" })).map(({ kind }) => kind)).toEqual(["member", "message"]);
  const inDirect = chat.messageEvent(chat.say(anna, direct, "hello")) as Fields;
  expect(await bench.read({ ...inDirect, message: undefined, type: "ADDED_TO_SPACE" })).toEqual([]);
});

test("a pressed button is named by the press: twice the same request is one event, two presses are two", async () => {
  const { chat, anna, direct } = bench;
  const message = chat.messageEvent(chat.say(anna, direct, "Pick")) as Fields;
  const press = (eventTime: string) => ({ ...message, type: "CARD_CLICKED", eventTime, common: { parameters: { openclaw: "/approve 1" } } });
  const ids = await Promise.all(
    ["2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z", "2026-01-01T00:00:05Z"].map(async (at) => (await bench.read(press(at)))[0]!.id),
  );
  expect(ids[0]).toBe(ids[1]);
  expect(ids[2]).not.toBe(ids[0]);
  expect(await bench.read(press("2026-01-01T00:00:00Z"))).toMatchObject([{ kind: "button", text: "/approve 1", mention: { mentioned: true } }]);
  expect(await bench.read({ ...message, type: "CARD_CLICKED", common: { parameters: { other: "x" } } })).toEqual([]);
});

test("other apps are bots, and our own messages are not read", async () => {
  const { chat, anna, space } = bench;
  const other = chat.world.addUser("Other", "BOT");
  expect((await bench.read(eventOf(other, space, "x", { mention: true })))[0]!.sender.isBot).toBe(true);
  expect((await bench.read(eventOf(anna, space, "x", { mention: true })))[0]!.sender.isBot).toBeUndefined();
  expect(await bench.read(eventOf(chat.bot, space, "x", { mention: true }), { botUser: chat.bot.name })).toEqual([]);
});

test("files are named with their type, and fetched when they are wanted, up to the limit; those of Drive are refused with the reason", async () => {
  const { channel, anna, direct } = bench;
  const data = Buffer.from("a picture");
  const event = eventOf(anna, direct, "see", { file: { name: "cat.png", mime: "image/png", data } });
  const [{ media } = { media: [] }] = await bench.read(event);
  expect(media).toMatchObject([{ kind: "image", mimeType: "image/png", fileName: "cat.png" }]);
  const fetching = (maxBytes: number, ref = media![0]!.ref) =>
    channel.media!.fetch({ cfg: bench.cfg(), accountId: "default", ref, maxBytes, signal: new AbortController().signal });
  expect(Buffer.from((await fetching(100)).data)).toEqual(data);
  await expect(fetching(3)).rejects.toThrow("larger than 3 bytes");
  const message = { ...(event["message"] as Fields), attachment: [{ contentName: "plan.doc", source: "DRIVE_FILE", driveDataRef: { driveFileId: "d1" } }] };
  const [drive] = await bench.read({ ...event, message });
  expect(drive!.media).toMatchObject([{ kind: "attachment", fileName: "plan.doc" }]);
  await expect(fetching(100, drive!.media![0]!.ref)).rejects.toThrow("Google Drive");
  await expect(fetching(100, {})).rejects.toThrow("has none");
  for (const resource of ["../../token", "a//b", "a/./b"]) await expect(fetching(100, { resource })).rejects.toThrow("points elsewhere");
  await expect(fetching(100, { resource: "spaces/A/attachments/gone" })).rejects.toMatchObject({ status: 404 });
});

test("what makes no sense is nothing", async () => {
  const { anna, direct } = bench;
  const good = eventOf(anna, direct, "hi") as { message: Fields; space: Fields; user: Fields };
  const strange: unknown[] = [
    undefined,
    5,
    [],
    {},
    { type: "MESSAGE" },
    { type: "constructor", ...good.message },
    { ...good, type: ["MESSAGE"] },
    { ...good, space: { ...good.space, name: "spaces/../x" } },
    { ...good, message: { ...good.message, name: "messages/1" } },
    { ...good, message: { ...good.message, sender: { name: "users/anna" } } },
    { ...good, message: { ...good.message, sender: { name: "anna" } } },
    { chat: { messagePayload: 5 } },
    { chat: { constructor: {} } },
    { chat: [] },
  ];
  for (const body of strange) expect(await bench.read(body), JSON.stringify(body)).toEqual([]);
  const half = { ...good, message: { ...good.message, text: 5, argumentText: [], annotations: "x", attachment: [5, { attachmentDataRef: 1 }], thread: 7 } };
  expect(await bench.read(half)).toMatchObject([{ text: "", media: [] }]);
  const long = { ...good, message: { ...good.message, text: "x".repeat(900_000) } };
  expect((await bench.read(long))[0]!.text).toHaveLength(900_000);
});

test("the space's settings go with its messages", async () => {
  const { anna, space, channel } = bench;
  const groups = { [space.name]: { requireMention: false, systemPrompt: "Be brief.", skills: ["plan"] }, "*": {} };
  const [event] = await bench.read(eventOf(anna, space, "x", { mention: true }), { groups });
  expect(event).toMatchObject({ groupSystemPrompt: "Be brief.", skillFilter: ["plan"] });
  const needs = (more: object) => channel.groups!.resolveRequireMention!({ cfg: bench.cfg({ ...more }), groupId: space.name });
  expect([needs({}), needs({ requireMention: false }), needs({ groups }), needs({ groups: { "*": { requireMention: true } }, requireMention: false })]).toEqual(
    [true, false, false, true],
  );
});
