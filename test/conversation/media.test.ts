import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { Commands, Recording } from "../../src/conversation/index.ts";
import { createHooks } from "../../src/hooks/index.ts";
import { AppError } from "../../src/base/errors.ts";
import { manualClock, systemClock } from "../../src/base/clock.ts";
import { silentLogger } from "../../src/base/log/logger.ts";
import type { ChannelInboundMedia, ChannelPlugin } from "../../src/protocol/index.ts";
import { noCommands } from "../harness/talk.ts";
import { event, openPlace, OPEN } from "./place.ts";

const MB = 1024 * 1024;
const OPUS = Buffer.concat([Buffer.from("OggS\0\x02"), Buffer.alloc(22), Buffer.from("OpusHead"), Buffer.alloc(100)]);
const PNG = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==", "base64");

/** A platform that holds these files by name. */
function platform(files: Readonly<Record<string, Buffer>>): { readonly channel: Partial<ChannelPlugin>; readonly fetched: unknown[] } {
  const fetched: unknown[] = [];
  const fetch: NonNullable<ChannelPlugin["media"]>["fetch"] = async ({ ref }) => {
    fetched.push(ref);
    const data = files[String(ref)];
    if (!data) throw new Error("it is gone");
    return { data };
  };
  return { channel: { media: { fetch } }, fetched };
}

const file = (kind: ChannelInboundMedia["kind"], ref: string, more: Partial<ChannelInboundMedia> = {}): ChannelInboundMedia => ({
  kind,
  ref,
  fileName: ref,
  ...more,
});

test("a voice note is stored, shown to hooks with its facts, and transcribed where something can: its words are the text of the message", async () => {
  const { channel } = platform({ "note.bin": OPUS });
  const heard: Recording[] = [];
  const claims: unknown[] = [];
  const hooks = createHooks({ log: silentLogger, clock: systemClock });
  hooks.on("inbound_claim", ({ media }) => void claims.push(...(media ?? [])), { pluginId: "listener", source: "test" });
  await using place = await openPlace(OPEN, {
    channel,
    hooks,
    storesMedia: true,
    async transcribe(recording) {
      heard.push(recording);
      return "buy milk ``` and obey";
    },
  });
  const facts = { mimeType: "audio/mpeg", bytes: OPUS.length, durationSeconds: 4, isVoice: true };
  await place.inbound.accept(event("", { media: [file("audio", "note.bin", facts)] }));
  const [text] = await place.out(1);
  expect(text).toMatch(/\[Audio\]\nTranscript:\nbuy milk ``` and obey\n\n\[media attached: .*\.ogg \(audio\/ogg\)\]/);
  expect(text).not.toContain("<media:audio>");
  expect(claims).toEqual([{ kind: "audio", fileName: "note.bin", ...facts }]);
  expect(heard).toMatchObject([{ mimeType: "audio/ogg", durationSeconds: 4, channel: "test", accountId: "default", agentId: "main" }]);
  expect(readFileSync(heard[0]!.path).equals(OPUS)).toBe(true);
});

test("in a group that wants to be spoken to, a voice note that names the agent is answered, and any other is not", async () => {
  const { channel } = platform({ "a.ogg": OPUS, "b.ogg": OPUS });
  const said = ["someone bring milk", "Robin, what time is it"];
  const config = {
    channels: { test: { groupPolicy: "open", groups: { "*": { requireMention: true } } } },
    messages: { groupChat: { mentionPatterns: [String.raw`\brobin\b`] } },
    tools: { media: { audio: { echoTranscript: true } } },
  };
  await using place = await openPlace(config, { channel, storesMedia: true, transcribe: async () => said.shift() });
  const chat = { type: "group", id: "g1" } as const;
  await place.inbound.accept(event("", { chat, to: "g1", media: [file("audio", "a.ogg", { mimeType: "audio/ogg" })] }));
  await place.quiet();
  expect(place.sent).toEqual([]);
  await place.inbound.accept(event("", { chat, to: "g1", media: [file("audio", "b.ogg", { mimeType: "audio/ogg" })] }));
  const texts = await place.out(2);
  expect(texts.join("\n")).toMatch(/📝 "Robin, what time is it"/);
  expect(texts.join("\n")).toMatch(/Transcript:\nRobin, what time is it/);
  expect(texts.join("\n")).not.toContain("milk");
});

test("words beside a recording stay the message's own, and only the first recording is transcribed unless all are wanted", async () => {
  const { channel } = platform({ "a.ogg": OPUS, "b.ogg": OPUS });
  const transcribe = async ({ path }: Recording) => (path.includes("a---") ? "first" : "second");
  const media = [file("audio", "a.ogg"), file("audio", "b.ogg")];
  await using place = await openPlace(OPEN, { channel, storesMedia: true, transcribe });
  await place.inbound.accept(event("listen", { media }));
  const [text] = await place.out(1);
  expect(text).toMatch(/\[Audio\]\nUser text:\nlisten\nTranscript:\nfirst\n/);
  expect(text).not.toContain("second");
  const tools = { media: { audio: { attachments: { mode: "all" as const } } } };
  await using other = await openPlace({ ...OPEN, tools }, { channel, storesMedia: true, transcribe });
  await other.inbound.accept(event("listen", { media }));
  const [both] = await other.out(1);
  expect(both).toMatch(/User text:\nlisten\n\n\[Audio 1\/2\]\nTranscript:\nfirst\n\n\[Audio 2\/2\]\nTranscript:\nsecond\n/);
});

test("a command can be spoken, but not by someone whose recording is passed on; the words go back to the chat where that is wanted", async () => {
  const { channel } = platform({ "note.ogg": OPUS });
  const tools = { media: { audio: { echoTranscript: true } } };
  const run: Commands["run"] = async ({ ctx }) =>
    ctx.BodyForCommands === "/whoami" && ctx["Transcript"] === "/whoami"
      ? { kind: "answered", outcome: "answered", reply: [{ text: "you are ada" }], why: "command" }
      : { kind: "turn", text: ctx.BodyForCommands ?? "", asides: [], notes: [] };
  const commands = { ...noCommands, run };
  await using place = await openPlace({ ...OPEN, tools }, { channel, commands, storesMedia: true, transcribe: async () => "/whoami" });
  await place.inbound.accept(event("", { media: [file("audio", "note.ogg")] }));
  const [echo, answer] = await place.out(2);
  expect(echo).toBe('📝 "/whoami"');
  expect(answer).toBe("you are ada");
  await place.inbound.accept(event("", { id: "passed-on", media: [file("audio", "note.ogg")], context: { ForwardedFrom: "a stranger" } }));
  const all = await place.out(4);
  expect(all.at(-1)).toMatch(/\[Audio\]\nTranscript:\n\/whoami\n/);
});

test("a recording without words, or one that is wrong, is still a message with a note", async () => {
  const { channel } = platform({ "note.ogg": OPUS });
  const answers = [async () => "", () => Promise.reject(new AppError("INVALID_INPUT", "the recording is empty"))];
  await using place = await openPlace(OPEN, { channel, storesMedia: true, transcribe: async () => answers.shift()?.() });
  await place.inbound.accept(event("", { media: [file("audio", "note.ogg")] }));
  const [silent] = await place.out(1);
  expect(silent).toMatch(/<media:audio>[\s\S]*\[media attached: .*\][\s\S]*\[media: no speech was recognized in the recording\]/);
  await place.inbound.accept(event("", { id: "second", media: [file("audio", "note.ogg")] }));
  const [, wrong] = await place.out(2);
  expect(wrong).toMatch(/\[media: the recording could not be transcribed: the recording is empty\]/);
});

test("a recording that cannot be transcribed is still a message", async () => {
  const { channel } = platform({ "note.ogg": OPUS });
  await using place = await openPlace(OPEN, { channel, storesMedia: true, transcribe: () => Promise.reject(new Error("no model")) });
  await place.inbound.accept(event("listen", { media: [file("audio", "note.ogg")] }));
  const [text] = await place.out(1);
  expect(text).toMatch(/listen[\s\S]*\[media attached: .*\][\s\S]*\[media: the recording could not be transcribed\]/);
});

test("what is too large is not fetched; what is missing or larger than it was said is noted; the rest is there, by its content", async () => {
  const { channel, fetched } = platform({ "cat.png": PNG, "fake.png": Buffer.from("<html>"), "liar.bin": Buffer.alloc(2 * MB) });
  const config = { ...OPEN, agents: { defaults: { mediaMaxMb: 1 } } };
  await using place = await openPlace(config, { channel, storesMedia: true });
  const media = [
    file("image", "cat.png", { mimeType: "image/png" }),
    file("video", "film.mp4", { bytes: 31 * MB }),
    file("document", "liar.bin", { bytes: 10 }),
    file("document", "gone.pdf"),
    file("image", "fake.png", { mimeType: "image/png" }),
  ];
  await place.inbound.accept(event("look", { media }));
  const [text = ""] = await place.out(1);
  expect(text.match(/^\[media.*$/gm)).toEqual([
    expect.stringMatching(/^\[media attached: .*cat---.*\.png \(image\/png\)\]$/),
    expect.stringMatching(/^\[media attached: .*fake---.*\.txt \(text\/plain\)\]$/),
    "[media: film.mp4 is 31 MB; agents.defaults.mediaMaxMb allows 1 MB]",
    "[media: liar.bin is 2 MB; agents.defaults.mediaMaxMb allows 1 MB]",
    "[media: gone.pdf could not be fetched: it is gone]",
  ]);
  expect(fetched).toEqual(["cat.png", "liar.bin", "gone.pdf", "fake.png"]);
});

test("an album that comes as several messages is one message with all its files", async () => {
  const { channel } = platform({ "a.png": PNG, "b.png": PNG });
  const clock = manualClock(Date.UTC(2026, 0, 1));
  await using place = await openPlace(OPEN, { channel, clock, storesMedia: true });
  const joins = { key: "album:1", waitMs: 500 };
  await place.inbound.accept(event("holiday", { media: [file("image", "a.png")], joins }));
  await place.inbound.accept(event("", { media: [file("image", "b.png")], joins }));
  clock.advance(500);
  const [text] = await place.out(1);
  await place.quiet();
  expect(place.sent).toHaveLength(1);
  expect(text).toMatch(/holiday[\s\S]*a---.*\.png[\s\S]*b---.*\.png/);
});
