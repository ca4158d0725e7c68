import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { ChannelOutboundAdapter, ChannelPlugin, ReplyPayload } from "../../protocol/index.ts";
import type { OutgoingFacts } from "./delivery.ts";
import { ADDRESS, fakeChannel, openWorld, type FakeChannel, type World } from "./delivery.fixture.ts";

let world: World;
beforeAll(async () => {
  world = await openWorld(fakeChannel());
});
beforeEach(() => {
  world.config.current = {};
});
afterAll(() => world[Symbol.asyncDispose]());

function channelWith(outbound: Partial<ChannelOutboundAdapter> = {}, over: Partial<ChannelPlugin> = {}): FakeChannel {
  const channel = fakeChannel([], outbound, over);
  world.channels.set("chat", channel);
  return channel;
}

const FACTS: OutgoingFacts = { kind: "final", sessionKey: "agent:main:main", runId: "r1" };

interface Row {
  readonly payload: Record<string, unknown>;
  readonly suppressed?: string;
  readonly nonce: string;
  readonly expiresAt: number;
}

async function rowsOf(payloads: readonly ReplyPayload[], facts: OutgoingFacts = FACTS, address = ADDRESS): Promise<readonly Row[]> {
  const { writes } = await world.delivery.prepare(address, payloads, facts);
  return writes.flatMap((write) => (write[1] as { readonly rows: readonly Row[] }).rows);
}

test("nothing is sent, and nothing is written, before the writes are committed", async () => {
  const channel = channelWith();
  const { texts } = await world.delivery.prepare(ADDRESS, [{ text: "hello" }], FACTS);
  world.delivery.kick();
  await world.turn();
  expect(texts).toEqual(["hello"]);
  expect(channel.sent).toEqual([]);
  expect(await world.rows()).toEqual([]);
});

test("a row has a short nonce of its own and a day to live", async () => {
  channelWith();
  const rows = await rowsOf([{ text: "a" }, { text: "b" }]);
  for (const { nonce, expiresAt } of rows) {
    expect(nonce).toMatch(/^[a-z0-9-]{10,25}$/);
    expect(expiresAt).toBe(world.clock.now() + 86_400_000);
  }
  expect(new Set(rows.map(({ nonce }) => nonce)).size).toBe(2);
});

test.each([
  ["the channel's limit", {}, { textChunkLimit: 10 }, "one two three four", ["one two", "three four"]],
  ["the configured limit", { channels: { chat: { textChunkLimit: 9 } } }, { textChunkLimit: 4000 }, "one two three four", ["one two", "three", "four"]],
  [
    "the account's limit",
    { channels: { chat: { textChunkLimit: 9, accounts: { default: { textChunkLimit: 20 } } } } },
    {},
    "one two three four",
    ["one two three four"],
  ],
  [
    "by paragraphs",
    { channels: { chat: { chunkMode: "newline", textChunkLimit: 8 } } },
    { chunkerMode: "text" as const },
    "one\n\ntwo\n\nthree",
    ["one\n\ntwo", "three"],
  ],
  ["the channel's own chunker", {}, { chunker: (text: string) => text.split(" ") }, "a b", ["a", "b"]],
  ["no chunker: whole", {}, { chunker: null, textChunkLimit: 3 }, "one two three", ["one two three"]],
  [
    "a chunker that throws: ours",
    {},
    {
      textChunkLimit: 10,
      chunker: () => {
        throw new Error("x");
      },
    },
    "one two three four",
    ["one two", "three four"],
  ],
] as const)("text is cut by %s", async (_, config, outbound, text, pieces) => {
  channelWith(outbound);
  world.config.current = config;
  expect((await rowsOf([{ text }])).map(({ payload }) => payload["text"])).toEqual(pieces);
});

test("a channel that counts more than characters says how long a text is", async () => {
  channelWith({ chunkerMode: "rich", textChunkLimit: 12, measureText: (text) => text.replaceAll("&", "&amp;").length });
  const rows = await rowsOf([{ text: "a & b & c" }]);
  expect(rows.map(({ payload }) => payload["text"])).toEqual(["a & b", "& c"]);
});

test("where the channel takes rich text, a row holds the styles over its piece", async () => {
  channelWith({ chunkerMode: "rich", textChunkLimit: 12 });
  const rows = await rowsOf([{ text: "**bold** and then more" }]);
  expect(rows.length).toBeGreaterThan(1);
  expect(rows[0]!.payload).toMatchObject({ text: expect.stringContaining("bold"), rich: { styles: [{ start: 0, end: 4, style: "bold" }] } });
  for (const { payload } of rows) expect((payload["rich"] as { text: string }).text).toBe(payload["text"]);
});

test("files come first, the text under the first one where it fits", async () => {
  channelWith({ captionLimit: 5 });
  const media = { mediaUrls: ["https://x.test/a.png", "https://x.test/b.png"] };
  expect((await rowsOf([{ text: "short", ...media }])).map(({ payload: { text, mediaUrl } }) => [text, mediaUrl])).toEqual([
    ["short", "https://x.test/a.png"],
    ["", "https://x.test/b.png"],
  ]);
  expect((await rowsOf([{ text: "longer text", mediaUrl: "https://x.test/a.png" }])).map(({ payload: { text, mediaUrl } }) => [text, mediaUrl])).toEqual([
    ["", "https://x.test/a.png"],
    ["longer text", undefined],
  ]);
});

test.each([
  ["under a file while there is space for the mark of a repeat", { mediaUrl: "https://x.test/a.png" }, 190, [190]],
  ["behind its file where there is none", { mediaUrl: "https://x.test/a.png" }, 191, [0, 191]],
  ["in pieces that leave space for it", {}, 205, [190, 15]],
])("a text that fills the limit goes %s", async (_how, media, length, lengths) => {
  channelWith({ chunkerMode: "text", captionLimit: 200, textChunkLimit: "mediaUrl" in media ? 4000 : 200 });
  const rows = await rowsOf([{ text: "x".repeat(length), ...media }]);
  expect(rows.map(({ payload }) => String(payload["text"]).length)).toEqual(lengths);
});

test.each([
  [{ most: 3 }, [["a.png", "b.mp4", "c.jpg"], ["d.png"], ["e.gif"], ["f.mp3"], ["g.pdf", "h.txt"]]],
  [
    { most: 5, mixed: true },
    [
      ["a.png", "b.mp4", "c.jpg", "d.png", "e.gif"],
      ["f.mp3", "g.pdf", "h.txt"],
    ],
  ],
])("with albums %j the files of an answer share messages", async (albums, expected) => {
  channelWith({ albums });
  const names = ["a.png", "b.mp4", "c.jpg", "d.png", "e.gif", "f.mp3", "g.pdf", "h.txt"];
  const mediaUrls = names.map((name) => `https://x.test/${name}`);
  const rows = await rowsOf([{ text: "all", mediaUrls }]);
  const short = (url: unknown): string => String(url).replace("https://x.test/", "");
  expect(rows.map(({ payload }) => ((payload["mediaUrls"] ?? [payload["mediaUrl"]]) as string[]).map(short))).toEqual(expected);
  expect(rows.map(({ payload }) => payload["text"])).toEqual(["all", ...expected.slice(1).map(() => "")]);
  expect(rows.map(({ payload }) => short(payload["mediaUrl"]))).toEqual(expected.map(([first]) => first));
  const voices = await rowsOf([{ text: "spoken", mediaUrls: mediaUrls.slice(5, 7), audioAsVoice: true }]);
  expect(voices.map(({ payload: { text, mediaUrl } }) => [text, mediaUrl && short(mediaUrl)])).toEqual([
    ["", "f.mp3"],
    ["", "g.pdf"],
    ["spoken", undefined],
  ]);
});

test("a channel without files gets addresses, and says so when it has none to give", async () => {
  channelWith({ sendMedia: undefined } as object);
  expect((await rowsOf([{ text: "see", mediaUrl: "https://x.test/a.png" }]))[0]!.payload).toMatchObject({ text: "see\n\nhttps://x.test/a.png" });
  expect(await world.delivery.prepare(ADDRESS, [{ mediaUrl: "/tmp/a.png" }], FACTS)).toEqual({ writes: [], texts: [], suppressed: ["media_not_supported"] });
});

test.each([
  ["off", { text: "x" }, []],
  ["off", { text: "x", replyToTag: true, replyToCurrent: true }, [0, 1]],
  ["first", { text: "x" }, [0]],
  ["all", { text: "x" }, [0, 1]],
] as const)("with replyToMode %s, %j names the answered message in rows %j", async (mode, payload, expected) => {
  channelWith({ chunker: () => ["one", "two"] }, { threading: { resolveReplyToMode: () => mode } });
  const address = { ...ADDRESS, replyToId: "9" };
  const facts = { ...FACTS, runId: `${mode}-${JSON.stringify(payload)}` };
  const named = (rows: readonly Row[]) => rows.flatMap(({ payload: { replyToId } }, index) => (replyToId === "9" ? [index] : []));
  expect(named(await rowsOf([payload], facts, address))).toEqual(expected);
  // What follows in the same turn.
  if (mode === "first") expect(named(await rowsOf([payload], facts, address))).toEqual([]);
});

test("the preview becomes the first text, buttons stand under the last", async () => {
  channelWith({ chunker: () => ["one", "two"] });
  const rows = await rowsOf([{ text: "x", mediaUrl: "https://x.test/a.png", channelData: { chat: { buttons: [] } } }], { ...FACTS, previewId: "p1" });
  expect(rows.map(({ payload }) => [payload["previewId"], payload["channelData"] !== undefined])).toEqual([
    [undefined, false],
    ["p1", false],
    [undefined, true],
  ]);
});

test("a hook rewrites what is sent once for each payload, before it is cut", async () => {
  channelWith({ chunker: (text) => text.split(" ") });
  const seen: string[] = [];
  using _first = world.hooks.on("reply_payload_sending", ({ payload, kind }) => ({ payload: { ...payload, text: `${payload.text} ${kind}` } }), {
    pluginId: "one",
  });
  using _second = world.hooks.on("message_sending", ({ content }) => (seen.push(content), { content: content.toUpperCase() }), { pluginId: "two" });
  const rows = await rowsOf([{ text: "a b" }]);
  expect(seen).toEqual(["a b final"]);
  expect(rows.map(({ payload }) => payload["text"])).toEqual(["A", "B", "FINAL"]);
  expect(rows[0]!.payload["hooks"]).toEqual(["reply_payload_sending by one", "message_sending by two"]);
});

test("a hook gains no trust for files by naming others, and does not see ours", async () => {
  channelWith();
  using _hook = world.hooks.on(
    "reply_payload_sending",
    ({ payload }) => {
      expect(payload).not.toHaveProperty("trustedLocalMedia");
      return { payload: { ...payload, mediaUrl: "/etc/passwd", trustedLocalMedia: true } as never };
    },
    { pluginId: "one" },
  );
  const [row] = await rowsOf([{ text: "x", mediaUrl: "/tmp/a.png", trustedLocalMedia: true }]);
  expect(JSON.stringify(row!.payload)).not.toContain("trustedLocalMedia");
});

test("a cancelled message leaves a row that says who cancelled it and why, and the others go out", async () => {
  const channel = channelWith();
  using _hook = world.hooks.on(
    "message_sending",
    ({ content }) => (content === "secret" ? { cancel: true, cancelReason: "not for strangers", metadata: { rule: 7 } } : {}),
    { pluginId: "guard" },
  );
  const report = await world.delivery.send({ ...ADDRESS, to: "7" }, [{ text: "secret" }, { text: "open" }], FACTS);
  expect(report).toMatchObject({ state: "sent", messageIds: ["m1"] });
  expect(channel.sent.map(({ text }) => text)).toEqual(["open"]);
  const rows = await world.rows("7");
  expect(rows.map(({ state, why }) => [state, why])).toEqual([
    ["suppressed", "cancelled_by_message_sending_hook: not for strangers"],
    ["sent", null],
  ]);
  expect(rows[0]!.payload).toMatchObject({ text: "secret", metadata: { rule: 7 } });
  expect(await world.delivery.send({ ...ADDRESS, to: "8" }, [{ text: "secret" }], FACTS)).toMatchObject({
    state: "suppressed",
    why: expect.stringContaining("not for strangers"),
  });
});

test("a channel whose answers cannot be kept whole still has sent its message", async () => {
  const circular: Record<string, unknown> = { messageId: "m9", big: "x".repeat(5000) };
  circular["self"] = circular;
  circular["meta"] = circular;
  channelWith({ sendText: () => Promise.resolve(circular as never) });
  expect(await world.delivery.send({ ...ADDRESS, to: "9" }, [{ text: "x" }], FACTS)).toMatchObject({ state: "sent", receipt: { messageId: "m9" } });
});
