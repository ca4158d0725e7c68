import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { AppError } from "../../base/errors.ts";
import type { ChannelOutboundAdapter } from "../../protocol/index.ts";
import { ADDRESS, failing, fakeChannel, openWorld, type FakeChannel, type Reaction, type World } from "./delivery.fixture.ts";

/** One store for all: each test has a target of its own. */
let world: World;
let address = ADDRESS;
let count = 0;
beforeAll(async () => {
  world = await openWorld(fakeChannel());
});
beforeEach(() => {
  address = { ...ADDRESS, to: `chat-${(count += 1)}` };
  world.ended.length = 0;
});
afterAll(() => world[Symbol.asyncDispose]());

function channelThat(reactions: readonly Reaction[], outbound?: Partial<ChannelOutboundAdapter>): FakeChannel {
  const channel = fakeChannel(reactions, outbound);
  world.channels.set("chat", channel);
  return channel;
}

interface Case {
  readonly name: string;
  readonly reactions: readonly Reaction[];
  readonly outbound?: Partial<ChannelOutboundAdapter>;
  readonly state: "sent" | "failed";
  readonly sends: number;
  /** Which sends carried the sign of a possible repeat. */
  readonly marked?: readonly number[];
  readonly why?: string;
}

const refused = failing("connect refused", { code: "ECONNREFUSED" });
const reset = failing("socket hang up", { code: "ECONNRESET" });
const flood = failing("slow down", { delivery: { state: "retry", retryAfterMs: 90_000 } });
const nonced = { nonceWindowMs: 300_000 };

const CASES: readonly Case[] = [
  { name: "it is taken at once", reactions: [], state: "sent", sends: 1 },
  { name: "nothing had left, and the second attempt arrives", reactions: [refused], state: "sent", sends: 2 },
  { name: "nothing leaves for a long time: nobody is to blame but the line", reactions: Array.from({ length: 30 }, () => refused), state: "sent", sends: 31 },
  {
    name: "the channel asks for more attempts",
    reactions: [refused, refused, refused, refused],
    outbound: { retry: { attempts: 5 } },
    state: "sent",
    sends: 5,
  },
  {
    name: "a name that cannot be resolved is a cause deep inside",
    reactions: [failing("fetch failed", { cause: failing("x", { code: "EAI_AGAIN" }) })],
    state: "sent",
    sends: 2,
  },
  { name: "the platform refuses for good", reactions: [failing("chat not found", { status: 404 })], state: "failed", sends: 1, why: "chat not found" },
  { name: "the channel says that trying again is useless", reactions: [failing("blocked", { delivery: { state: "failed" } })], state: "failed", sends: 1 },
  {
    name: "the channel's word counts more than the code",
    reactions: [failing("x", { code: "ECONNRESET", delivery: { state: "retry" } })],
    state: "sent",
    sends: 2,
  },
  { name: "what cannot be sent is not tried again", reactions: [new AppError("INVALID_INPUT", "no such target")], state: "failed", sends: 1 },
  { name: "an account that is away for a moment", reactions: [new AppError("UNAVAILABLE", "not connected")], state: "sent", sends: 2 },
  { name: "the platform asks to wait longer than any back-off", reactions: [flood], state: "sent", sends: 2 },
  { name: "requests to wait are not counted against the message", reactions: [flood, flood, flood, flood, refused], state: "sent", sends: 6 },
  { name: "a wait in the platform's own words", reactions: [failing("429", { error_code: 429, parameters: { retry_after: 60 } })], state: "sent", sends: 2 },
  { name: "a wait beyond its time", reactions: [failing("429", { status: 429, retryAfter: 100_000 })], state: "failed", sends: 1, why: "expired" },
  { name: "the answer got lost: sent again once, with a sign", reactions: [reset], state: "sent", sends: 2, marked: [1] },
  { name: "the answer got lost twice", reactions: [reset, reset], state: "failed", sends: 2, marked: [1], why: "may have arrived" },
  { name: "a server's error may come after the message", reactions: [failing("bad gateway", { status: 502 })], state: "sent", sends: 2, marked: [1] },
  { name: "an error without any code", reactions: [new Error("boom")], state: "sent", sends: 2, marked: [1] },
  { name: "a pipe that broke", reactions: [failing("write", { code: "EPIPE" })], state: "sent", sends: 2, marked: [1] },
  { name: "the repeat certainly did not arrive: it stays a repeat", reactions: [reset, refused], state: "sent", sends: 3, marked: [1, 2] },
  { name: "the repeat certainly did not arrive, then its answer got lost", reactions: [reset, refused, reset], state: "failed", sends: 3, marked: [1, 2] },
  { name: "the platform drops repeats: sent again without a sign", reactions: [reset, reset], outbound: nonced, state: "sent", sends: 3 },
  { name: "the platform drops repeats, and answers late", reactions: Array.from({ length: 6 }, () => reset), outbound: nonced, state: "sent", sends: 7 },
  { name: "the platform's window is over", reactions: [reset], outbound: { nonceWindowMs: 1 }, state: "sent", sends: 2, marked: [1] },
  { name: "not found after an answer got lost", reactions: [reset, failing("gone", { status: 403 })], state: "failed", sends: 2, marked: [1] },
];

test.each(CASES)("$name", async ({ reactions, outbound, state, sends, marked = [], why }) => {
  const channel = channelThat(reactions, outbound);
  const reported: unknown[] = [];
  using _hook = world.hooks.on("message_sent", (event) => void reported.push({ success: event.success, error: event.error }), { pluginId: "test" });
  const sending = world.delivery.send(address, [{ text: "hello" }], { kind: "send" }, 86_000_000);
  const report = await world.settle(sending);
  expect(report.state).toBe(state);
  expect(channel.sent).toHaveLength(sends);
  expect(channel.sent.flatMap(({ text }, index) => (text === "(repeat?) hello" ? [index] : []))).toEqual(marked);
  expect(channel.sent.filter((_, index) => !marked.includes(index)).every(({ text }) => text === "hello")).toBe(true);
  expect(new Set(channel.sent.map(({ nonce }) => nonce)).size).toBe(1);
  if (why !== undefined) expect(report.why).toContain(why);
  expect(await world.rows(address.to)).toMatchObject([{ state, attempts: sends }]);
  expect(reported).toEqual([{ success: state === "sent", error: report.why }]);
  expect(world.ended.map((row) => row.state)).toEqual([state]);
});

test("the mark of a repeat does not make a message longer than its channel takes", async () => {
  const channel = channelThat([reset], { textChunkLimit: 200 });
  await world.settle(world.delivery.send(address, [{ text: "x".repeat(200) }], { kind: "send" }, 86_000_000));
  expect(channel.sent.map(({ text }) => text.length)).toEqual([190, 200, 10]);
});

test("the marked repeat of what a process was sending when it ended waits for 5 s after that attempt, also where the account works at once", async () => {
  const probed = { status: { probeAccount: () => Promise.resolve({ ok: true }) } };
  const first = fakeChannel([() => new Promise<never>(() => {})], {}, probed);
  await using own = await openWorld(first);
  void own.delivery.send(ADDRESS, [{ text: "hello" }], { kind: "send" }, 0);
  await own.drain(() => first.sent.length === 1);
  const { attemptedAt } = (await own.rows())[0]!;
  await own.restart();
  const next = fakeChannel([() => void times.push(own.clock.now())], {}, probed);
  const times: number[] = [];
  own.channels.set("chat", next);
  own.delivery.kick();
  await own.drain(() => own.ended.length === 1);
  expect(next.sent.map(({ text }) => text)).toEqual(["(repeat?) hello"]);
  expect(times[0]! - attemptedAt!).toBeGreaterThanOrEqual(5000);
});

test.each([
  ["in the edit of a preview that was deleted afterwards: the answer is a new message", false, "hello"],
  ["while the answer was sent as a new message: it is marked as a repeat", true, "(repeat?) hello"],
])("a crash %s", async (_, isNewMessage, text) => {
  const hang = () => new Promise<never>(() => {});
  let edits = 0;
  const first = fakeChannel([hang], {
    editPreview() {
      edits += 1;
      return isNewMessage ? Promise.resolve(undefined as never) : hang();
    },
  });
  await using own = await openWorld(first);
  void own.delivery.send(ADDRESS, [{ text: "hello" }], { kind: "final", previewId: "p1" }, 0);
  await own.drain(() => (isNewMessage ? first.sent.length : edits) === 1);
  await own.restart();
  const next = fakeChannel([], { editPreview: () => Promise.resolve(undefined as never) });
  own.channels.set("chat", next);
  own.delivery.kick();
  await own.drain(() => own.ended.length === 1);
  expect(next.sent.map((sent) => sent.text)).toEqual([text]);
});

test("an attempt that never ends is given up after its time and counts as one that may have arrived", async () => {
  const signals: AbortSignal[] = [];
  const channel = channelThat([
    ({ signal }) => {
      signals.push(signal!);
      return new Promise(() => {});
    },
  ]);
  const sending = world.delivery.send(address, [{ text: "hello" }], { kind: "send" }, 86_000_000);
  await world.drain(() => channel.sent.length === 1);
  world.clock.advance(60_000);
  await world.drain(() => channel.sent.length === 2);
  expect(await world.settle(sending)).toMatchObject({ state: "sent", messageIds: ["m2"] });
  expect(signals[0]!.aborted).toBe(true);
  expect(channel.sent[1]).toMatchObject({ text: "(repeat?) hello", isRepeat: true });
});

test("the wait that a platform asks for holds for the edit that makes a preview the answer", async () => {
  const edits: number[] = [];
  const channel = channelThat([], {
    async editPreview() {
      edits.push(world.clock.now());
      if (edits.length === 1) throw flood;
      return { channel: "chat", messageId: "p1" };
    },
  });
  const sending = world.delivery.send(address, [{ text: "hello" }], { kind: "final", previewId: "p1" }, 86_000_000);
  await world.drain(() => edits.length === 1);
  expect(await world.settle(sending)).toMatchObject({ state: "sent", messageIds: ["p1"] });
  expect(edits[1]).toBeGreaterThanOrEqual(edits[0]! + 90_000);
  expect(channel.sent).toEqual([]);
});

test("the wait that a platform asks for is neither cut short nor drawn out", async () => {
  const channel = channelThat([flood]);
  const waiting = world.delivery.send(address, [{ text: "hello" }], { kind: "send" }, 86_000_000);
  await world.drain(() => channel.sent.length === 1);
  const sending = world.delivery.send({ ...ADDRESS, to: "beside" }, [{ text: "beside" }], { kind: "send" });
  await world.drain(() => channel.sent.length >= 2);
  // The row that waits stands in nobody's way but its own.
  expect((await sending).state).toBe("sent");
  const waited = await world.rows(address.to);
  expect(waited[0]).toMatchObject({ state: "pending", why: "slow down" });
  world.clock.advance(waited[0]!.nextAttemptAt! - world.clock.now() - 1);
  await world.turn();
  await world.turn();
  expect(channel.sent).toHaveLength(2);
  world.clock.advance(1);
  expect((await world.settle(waiting)).state).toBe("sent");
  expect(channel.sent).toHaveLength(3);
});

interface LostCase {
  readonly name: string;
  readonly reactions?: readonly Reaction[];
  readonly outbound?: Partial<ChannelOutboundAdapter>;
  readonly previewId?: string;
  readonly state: "sent" | "failed";
  readonly sends: number;
}

const LOST: readonly LostCase[] = [
  { name: "it is the repeat", state: "sent", sends: 1 },
  { name: "nobody knows of it either: that was the repeat", reactions: [reset], state: "failed", sends: 1 },
  { name: "it certainly did not arrive: it is tried again", reactions: [refused, flood], state: "sent", sends: 3 },
  { name: "the platform drops repeats of it, not of the preview", reactions: [reset, reset], outbound: nonced, state: "sent", sends: 3 },
  {
    name: "it goes into a message that is there",
    outbound: { editPreview: async () => ({ channel: "chat", messageId: "p1" }) },
    previewId: "p1",
    state: "sent",
    sends: 0,
  },
  { name: "the message that is there cannot be edited", outbound: { editPreview: async () => undefined }, previewId: "p1", state: "sent", sends: 1 },
  {
    name: "the message that is there cannot be edited, and nobody knows of the new one",
    reactions: [reset],
    outbound: { editPreview: async () => undefined },
    previewId: "p1",
    state: "failed",
    sends: 1,
  },
];

test.each(LOST)("a preview may be there that nobody can find: $name", async ({ reactions = [], outbound, previewId, state, sends }) => {
  const edits: string[] = [];
  const edit = outbound?.editPreview;
  const noted: Partial<ChannelOutboundAdapter> = { ...outbound, ...(edit ? { editPreview: (ctx) => (edits.push(ctx.text), edit(ctx)) } : {}) };
  const channel = channelThat(reactions, noted);
  const facts = { kind: "final", isPreviewLost: true, ...(previewId === undefined ? {} : { previewId }) } as const;
  const report = await world.settle(world.delivery.send(address, [{ text: "hello" }], facts, 86_000_000));
  expect([report.state, channel.sent.length]).toEqual([state, sends]);
  expect(new Set([...edits, ...channel.sent.map(({ text }) => text)])).toEqual(new Set(["(repeat?) hello"]));
});

test("a preview may be there that nobody can find: the answer waits for its time, over a restart, and what follows waits behind it", async () => {
  const channel = fakeChannel([], { chunker: (text) => text.split(" ") });
  await using own = await openWorld(channel);
  void own.delivery.send(ADDRESS, [{ text: "", mediaUrl: "https://x.test/a.png" }, { text: "one two" }], { kind: "final", isPreviewLost: true }, 1);
  await own.drain(() => own.ended.length === 1);
  const [, first] = await own.rows(ADDRESS.to);
  expect(first).toMatchObject({ state: "unknown", attempts: 0, why: expect.stringContaining("whether the preview was posted") });
  await own.restart();
  own.delivery.kick();
  // Nobody can be asked here: ten minutes.
  own.clock.advance(first!.createdAt + 599_000 - own.clock.now());
  for (let round = 0; round < 3; round += 1) await own.turn();
  expect(channel.sent).toHaveLength(1);
  await own.drain(() => own.ended.length === 3);
  expect(channel.sent.map(({ text }) => text)).toEqual(["", "(repeat?) one", "two"]);
});

const tooLarge = failing("clip.mp4 is 60 MB; Chat takes 50 MB", { delivery: { state: "failed", filesNotSent: ["clip.mp4 is 60 MB; Chat takes 50 MB"] } });
const NOTE = "[not sent: clip.mp4 is 60 MB; Chat takes 50 MB]";
const clip = { mediaUrl: "https://x.test/clip.mp4" };

test.each([
  ["the text of an answer", "final", { text: "see", ...clip }, `see\n\n${NOTE}`],
  ["an answer without a text", "final", clip, NOTE],
  ["the text of a call", "send", { text: "see", ...clip }, `see\n\n${NOTE}`],
] as const)("%s whose file is not taken goes with a note", async (_name, kind, payload, text) => {
  const channel = channelThat([tooLarge]);
  const report = await world.delivery.send(address, [payload], { kind });
  expect(report).toMatchObject({ state: "sent", messageIds: ["m2"], why: "not sent: clip.mp4 is 60 MB; Chat takes 50 MB" });
  expect(channel.sent.map(({ text: words, mediaUrl, nonce }) => [words, mediaUrl, nonce === channel.sent[0]!.nonce])).toEqual([
    ["text" in payload ? payload.text : "", clip.mediaUrl, true],
    [text, undefined, true],
  ]);
});

test("a text whose message the platform refused with its file goes alone, with the file's name and the reason", async () => {
  const channel = channelThat([failing("Discord refused send: 403 50013: Missing Permissions", { status: 403 })]);
  const report = await world.delivery.send(address, [{ text: "see", ...clip }], { kind: "final" });
  expect(report).toMatchObject({ state: "sent", messageIds: ["m2"], why: expect.stringContaining("not sent: clip.mp4") as string });
  expect(channel.sent.at(-1)!.text).toBe("see\n\n[not sent: clip.mp4 (Discord refused send: 403 50013: Missing Permissions)]");
});

test("a call that only sends a file which is not taken fails, so that it can be corrected", async () => {
  const channel = channelThat([tooLarge]);
  expect(await world.delivery.send(address, [clip], { kind: "send" })).toMatchObject({ state: "failed", why: expect.stringContaining("60 MB") as string });
  expect(channel.sent).toHaveLength(1);
});

test("an album is one message for the channel, with one nonce", async () => {
  const channel = channelThat([], { albums: { most: 10 } });
  const mediaUrls = ["https://x.test/a.png", "https://x.test/b.png"];
  await world.delivery.send(address, [{ text: "both", mediaUrls }], { kind: "final" });
  expect(channel.sent).toMatchObject([{ text: "both", mediaUrl: mediaUrls[0], mediaUrls }]);
});
