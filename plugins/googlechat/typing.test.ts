import { afterEach, beforeEach, expect, test } from "vitest";
import { TYPING_TEXT } from "./preview.ts";
import { type Bench, openBench } from "./testing.ts";

let bench: Bench;
beforeEach(async () => {
  bench = await openBench();
});
afterEach(() => bench[Symbol.asyncDispose]());

const POST = /^POST \/v1\/spaces\/[^/]+\/messages$/;
const signal = new AbortController().signal;
const texts = (): string[] => bench.chat.messages(bench.direct).flatMap(({ sender, text }) => (sender === bench.chat.bot ? [text] : []));
const params = (config = {}) => ({ cfg: bench.cfg(config), accountId: "default", to: bench.direct.name, signal });
const start = (config = {}) => bench.channel.typing!.start(params(config));
const stop = (config = {}) => bench.channel.typing!.stop!(params(config));
const open = (config = {}, more = {}) => bench.channel.preview!.open({ ...params(config), chatType: "direct", ...more });
const finish = (previewId: string, text: string, config = {}) =>
  bench.channel.outbound!.editPreview!({ cfg: bench.cfg(config), to: bench.direct.name, text, previewId, payload: { text } });

test("a message says that an answer is being written, shows it, and becomes it", async () => {
  await start();
  await start();
  expect(texts()).toEqual([TYPING_TEXT]);
  const preview = open()!;
  await preview.update("The **beginning**");
  expect(texts()).toEqual(["The *beginning*"]);
  // Turns that take long show the sign again: the message is there already.
  await start();
  const id = await preview.seal();
  await stop();
  await finish(id!, "The end.");
  expect(texts()).toEqual(["The end."]);
});

test("an answer that was not shown before becomes that message as well; a silent one takes it away", async () => {
  await start();
  const id = await open()!.seal();
  await finish(id!, "Short.");
  await stop();
  await start();
  await open()!.discard();
  await stop();
  expect(texts()).toEqual(["Short."]);
});

test("a turn without an answer takes the message away, also one whose receipt was lost", async () => {
  await start();
  await stop();
  bench.chat.server.faults.add({ on: POST, reset: true, applied: true });
  await expect(start()).rejects.toMatchObject({ delivery: { state: "unknown" } });
  expect(texts()).toEqual([TYPING_TEXT]);
  await stop();
  expect(texts()).toEqual([]);
});

test("where the message could not be posted, the answer is a new one", async () => {
  bench.chat.server.faults.add({ on: POST, status: 403 });
  await expect(start()).rejects.toMatchObject({ status: 403 });
  const preview = open()!;
  await preview.update("lost");
  expect(await finish((await preview.seal())!, "answer")).toBeUndefined();
});

test("what a process left when it died is taken away by the next one", async () => {
  await start();
  expect(texts()).toEqual([TYPING_TEXT]);
  const left = [...bench.stored.values()];
  expect(JSON.stringify(left)).toContain("client-");
  const next = await openNext();
  await next();
  expect(texts()).toEqual([]);
});

/** The channel of another process, with the same store. */
async function openNext(): Promise<() => Promise<void>> {
  const { createGoogleChatPlugin } = await import("./channel.ts");
  const { runChannelAccount } = await import("openclaw/plugin-sdk/testing");
  const { stored } = bench;
  const channel = createGoogleChatPlugin({
    apiRoot: bench.chat.url,
    openStore: () => ({ lookup: async (key) => stored.get(key), register: async (key, value) => void stored.set(key, value) }),
  });
  return async () => {
    const account = runChannelAccount(channel, { cfg: bench.cfg() });
    await expect.poll(texts).toEqual([]);
    await account.stop();
    channel[Symbol.dispose]();
  };
}

test("streamMode decides what is shown meanwhile", async () => {
  const shows = async (streamMode: string): Promise<string[]> => {
    await start({ streamMode });
    const preview = open({ streamMode })!;
    for (const text of ["first text", "another text"]) await preview.update(text);
    const shown = texts();
    await preview.discard();
    await stop({ streamMode });
    return shown;
  };
  expect(await shows("replace")).toEqual(["another text"]);
  expect(await shows("append")).toEqual(["first text\n\nanother text"]);
  expect(await shows("status_final")).toEqual([TYPING_TEXT]);
});

test("none shows nothing", async () => {
  await start({ typingIndicator: "none" });
  expect(open({ typingIndicator: "none" })).toBeUndefined();
  expect(bench.asked()).toEqual([]);
});

test("a preview of a turn that is taken up goes on in its message, and one without a sign posts its own", async () => {
  const preview = open()!;
  await preview.update("one");
  expect(texts()).toEqual(["one"]);
  const again = open({}, { previewId: preview.id!() })!;
  await again.update("one and two");
  expect(texts()).toEqual(["one and two"]);
});

test("a sign in a thread stands in the thread", async () => {
  const { chat, anna, space } = bench;
  const root = chat.say(anna, space, "root");
  await bench.channel.typing!.start({ ...params(), to: root.thread });
  expect(chat.messages(space).at(-1)).toMatchObject({ thread: root.thread, threadReply: true, text: TYPING_TEXT });
});

test("a reaction to the message says it as well, and goes away; where Google refuses reactions a message is shown", async () => {
  const { chat, anna, direct, channel } = bench;
  const typingIndicator = "reaction";
  const { name } = chat.say(anna, direct, "hi");
  const reactions = (): string[] => (chat.world.reactions.get(name) ?? []).map(({ emoji }) => emoji);
  chat.permitUserActions();
  const { createTypingSigns } = await import("./typing.ts");
  const { createAccounts } = await import("./account.ts");
  const { createApi } = await import("./api.ts");
  const account = createAccounts().read(bench.cfg({ typingIndicator }));
  const api = createApi(account, { apiRoot: chat.url, now: bench.now });
  const signs = createTypingSigns({ sender: () => ({ account, api }), waiting: { now: bench.now, random: () => 0, sleep: async () => {} } });
  signs.heard("default", direct.name, name);
  await signs.typing.start(params());
  await signs.typing.start(params());
  expect([reactions(), texts()]).toEqual([["👀"], []]);
  expect(signs.preview.open({ ...params(), chatType: "direct" })).toBeUndefined();
  await signs.typing.stop!(params());
  expect(reactions()).toEqual([]);
  chat.permitUserActions(false);
  await signs.typing.start(params());
  expect([reactions(), texts()]).toEqual([[], [TYPING_TEXT]]);
  await signs.typing.stop!(params());
  expect(texts()).toEqual([]);
  api.close();
  expect(channel.typing!.refreshMs).toBe(60_000);
});

test("the first post of a preview has a request id: one whose answer was lost is found again", async () => {
  bench.chat.server.faults.add({ on: POST, reset: true, applied: true });
  const preview = open()!;
  await preview.update("The beginning of an answer");
  const id = await preview.seal();
  await finish(id!, "The end.");
  expect(texts()).toEqual(["The end."]);
});
