import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Channel, type FakeDiscord, type Guild, startDiscord } from "../../../test/fakes/discord/index.ts";
import { createDiscordPlugin, type DiscordChannel } from "../channel.ts";
import { chunk } from "./chunk.ts";

let discord: FakeDiscord;
let plugin: DiscordChannel;
let guild: Guild;
let channel: Channel;
beforeEach(async () => {
  discord = await startDiscord();
  guild = discord.world.guild({ members: [discord.me] });
  channel = discord.world.channel(guild, { name: "general" });
  plugin = createDiscordPlugin({ apiRoot: discord.apiRoot });
});
afterEach(async () => {
  plugin[Symbol.dispose]();
  await discord[Symbol.asyncDispose]();
});

const cfg = (more: Record<string, unknown> = {}) => ({ channels: { discord: { token: discord.token, ...more } } });
const to = () => `channel:${channel.id}`;
const send = (text: string, more: Record<string, unknown> = {}, config: Record<string, unknown> = {}) =>
  plugin.outbound!.sendText!({ cfg: cfg(config), to: to(), text, ...more });
const last = () => discord.messages(channel).at(-1)!;
const lastBody = () => discord.server.asked.findLast(({ method, path }) => method !== "GET" && /\/messages(?:\/\d+)?$/.test(path))!.fields;

test.each(["", "{", "[]"])("an answer of Discord that is %j leaves open whether the message is there", async (body) => {
  const bytes = Buffer.from(body);
  const transport = {
    request: () => Promise.resolve({ status: 200, headers: {}, bytes: () => Promise.resolve(bytes), stream: () => (async function* () {})() }),
    close() {},
  };
  using garbled = createDiscordPlugin({ apiRoot: discord.apiRoot, transport });
  await expect(garbled.outbound!.sendText!({ cfg: cfg(), to: to(), text: "x", nonce: "n" })).rejects.toMatchObject({ delivery: { state: "unknown" } });
});

describe("cutting", () => {
  const text = [
    "# Title",
    ...Array.from({ length: 30 }, (_, n) => `line ${n} ${"word ".repeat(n)}`.trim()),
    "```ts",
    ...Array.from({ length: 60 }, (_, n) => `  const value${n} = "${"🎉".repeat(n % 7)}";`),
    "```",
    "x".repeat(5000),
    "end",
  ].join("\n");

  test.each([
    [2000, 17],
    [2000, 5],
    [300, 1000],
    [100, 17],
  ])("%i characters and %i lines: every message fits, blocks are closed and opened again, nothing is lost", (maxChars, maxLines) => {
    const pieces = chunk(text, maxChars, maxLines);
    for (const piece of pieces) {
      expect(piece.length).toBeLessThanOrEqual(maxChars);
      expect(piece.split("\n").length).toBeLessThanOrEqual(maxLines);
      expect((piece.match(/^```/gm) ?? []).length % 2, piece).toBe(0);
      expect(piece.isWellFormed()).toBe(true);
    }
    const bare = (whole: string): string => whole.replaceAll(/^```.*$/gm, "").replaceAll(/\s+/g, "");
    expect(bare(pieces.join("\n"))).toBe(bare(text));
  });

  test("a short text is one message, and so is a block that fits", () => {
    expect(chunk("hello\n\nyou", 2000, 17)).toEqual(["hello\n\nyou"]);
    expect(chunk("```\na\nb\n```", 2000, 17)).toEqual(["```\na\nb\n```"]);
  });

  test("lines and tables follow the configuration", () => {
    const table = "| a | b |\n| --- | --- |\n| 1 | 2 |";
    const cut = (input: string, more: Record<string, unknown>) => plugin.outbound!.chunker!(input, 2000, { cfg: cfg(more), accountId: "default" });
    expect(cut("1\n2\n3\n4\n5\n6", { maxLinesPerMessage: 3 })).toEqual(["1\n2\n3", "4\n5\n6"]);
    expect(cut(table, {})[0]).toMatch(/^```/);
    expect(cut(table, { markdown: { tables: "off" } })).toEqual([table]);
  });
});

test("a message has a nonce that makes a repeat harmless, and calls nobody at once", async () => {
  const before = discord.messages(channel).length;
  const text = `@everyone <@&5> <@${discord.me.id}> hello`;
  const [first, second] = [await send(text, { nonce: "oc-0123456789abcdef0123" }), await send(text, { nonce: "oc-0123456789abcdef0123" })];
  expect(second.messageId).toBe(first.messageId);
  expect(discord.messages(channel)).toHaveLength(before + 1);
  expect(lastBody()).toMatchObject({ nonce: "oc-0123456789abcdef0123", enforce_nonce: true, allowed_mentions: { parse: ["users"], replied_user: false } });
  expect(last()).toMatchObject({ mention_everyone: false, mention_roles: [], mentions: [{ id: discord.me.id }] });
});

test("targets: people by their DM channel, opened once; replies and silence go along; a reply to what is gone is sent all the same", async () => {
  const person = discord.world.person({ username: "bo" });
  for (const target of [`user:${person.id}`, `<@${person.id}>`, `discord:${person.id}`]) await send("hi", { to: target });
  expect(discord.messages(discord.world.direct(person))).toHaveLength(3);
  expect(discord.server.asked.filter(({ path }) => path.endsWith("/users/@me/channels"))).toHaveLength(1);
  const said = discord.say("question", { channel });
  await send("answer", { replyToId: said.id, silent: true });
  expect(last()).toMatchObject({ message_reference: { message_id: said.id }, flags: 4096 });
  await send("answer", { replyToId: "999999999999999999" });
  expect(last().message_reference).toBeUndefined();
  await expect(send("x", { to: "somewhere nice" })).rejects.toMatchObject({
    delivery: { state: "failed" },
    message: expect.stringContaining("channel:<id>") as string,
  });
});

test.each([
  ["a closed door", () => discord.blockedDirects.add(discord.me.id), () => ({ to: `user:${discord.me.id}` }), "failed", /50007.*direct messages/],
  ["an unknown channel", () => undefined, () => ({ to: "channel:123456789012345678" }), "failed", /10003/],
  ["a server error", () => discord.server.faults.add({ on: "POST", status: 502 }), () => ({}), "unknown", /502/],
  ["a lost answer", () => discord.server.faults.add({ on: /messages$/, reset: true, applied: true }), () => ({}), "unknown", /did not respond/],
])("%s: %s", async (_title, prepare, more, state, message) => {
  prepare();
  await expect(send("hello", more())).rejects.toMatchObject({ delivery: { state }, message: expect.stringMatching(message) as string });
  discord.blockedDirects.clear();
});

test("a limit of a bucket is waited for, and a long one is reported with its time", async () => {
  discord.limits.messages({ limit: 1, perMs: 300 });
  const started = Date.now();
  await send("one");
  await send("two");
  expect(Date.now() - started).toBeGreaterThanOrEqual(250);
  discord.limits.messages({ limit: 1, perMs: 20_000 });
  await send("three");
  await expect(send("four")).rejects.toMatchObject({ delivery: { state: "retry", retryAfterMs: expect.closeTo(20_000, -3) as number } });
  const asked = discord.server.asked.length;
  await expect(send("five")).rejects.toMatchObject({ delivery: { state: "retry" } });
  expect(discord.server.asked, "nothing is asked while it waits").toHaveLength(asked);
});

test("a limit over all requests stops every channel", async () => {
  discord.limits.global(60_000);
  await expect(send("one")).rejects.toMatchObject({ delivery: { state: "retry", retryAfterMs: expect.closeTo(60_000, -3) as number } });
  const asked = discord.server.asked.length;
  const other = discord.world.channel(guild, { name: "other" });
  await expect(send("two", { to: `channel:${other.id}` })).rejects.toMatchObject({ delivery: { state: "retry" } });
  expect(discord.server.asked).toHaveLength(asked);
});

describe("besides text", () => {
  test("a file goes with its text; one that is too large fails with the limit", async () => {
    const folder = mkdtempSync(join(tmpdir(), "discord-"));
    const data = Buffer.from("%PDF-1.4 something");
    writeFileSync(join(folder, "a.pdf"), data);
    const context = { cfg: cfg(), to: to(), text: "see", mediaUrl: join(folder, "a.pdf"), mediaLocalRoots: [folder], nonce: "oc-file" };
    await plugin.outbound!.sendMedia!(context);
    expect(last()).toMatchObject({ content: "see", nonce: "oc-file", attachments: [{ filename: "a.pdf" }] });
    expect(discord.world.files.get(last().attachments[0]!.id)!.data).toEqual(data);
    writeFileSync(join(folder, "big.bin"), Buffer.alloc(11 * 1024 * 1024, 7));
    await expect(plugin.outbound!.sendMedia!({ ...context, nonce: "oc-big", mediaUrl: join(folder, "big.bin") })).rejects.toMatchObject({
      delivery: { state: "failed" },
      message: expect.stringContaining("10 MB") as string,
    });
    writeFileSync(join(folder, "b.txt"), "words");
    await plugin.outbound!.sendMedia!({ ...context, nonce: "oc-two", mediaUrls: [join(folder, "a.pdf"), join(folder, "b.txt")] });
    expect(last()).toMatchObject({ content: "see", attachments: [{ filename: "a.pdf" }, { filename: "b.txt" }] });
  });

  test("a recording is a voice message with its length and loudness", async () => {
    const folder = mkdtempSync(join(tmpdir(), "discord-"));
    const page = (granule: number, body: Buffer): Buffer => {
      const head = Buffer.alloc(28);
      head.write("OggS", "latin1");
      head.writeBigInt64LE(BigInt(granule), 6);
      return Buffer.concat([head, body]);
    };
    const ogg = Buffer.concat([page(0, Buffer.from("OpusHead\x01\x01\0\0\0\0\0\0\0\0", "latin1")), page(72_000, Buffer.from("sound"))]);
    writeFileSync(join(folder, "memo.ogg"), ogg);
    const context = { cfg: cfg(), to: to(), text: "", mediaUrl: join(folder, "memo.ogg"), mediaLocalRoots: [folder], audioAsVoice: true, nonce: "oc-voice" };
    await plugin.outbound!.sendMedia!(context);
    const { body } = discord.server.asked.findLast(({ path }) => path.endsWith("/messages"))!;
    const [, json = ""] = /name="payload_json"\r\n\r\n(.*)\r\n/.exec(body.toString("latin1")) ?? [];
    expect(JSON.parse(json)).toMatchObject({
      flags: 8192,
      attachments: [{ filename: "memo.ogg", duration_secs: 1.5, waveform: Buffer.alloc(64).toString("base64") }],
    });
  });

  test("polls have Discord's bounds", async () => {
    const poll = { question: "Tea?", options: ["yes", "no"], maxSelections: 2, durationHours: 2 };
    await plugin.outbound!.sendPoll!({ cfg: cfg(), to: to(), poll });
    expect(last().poll).toMatchObject({ question: { text: "Tea?" }, duration: 2, allow_multiselect: true });
    for (const bad of [
      { ...poll, options: ["one"] },
      { ...poll, durationHours: 1000 },
      { ...poll, options: ["a", "b".repeat(56)] },
    ])
      await expect(plugin.outbound!.sendPoll!({ cfg: cfg(), to: to(), poll: bad })).rejects.toMatchObject({ delivery: { state: "failed" } });
  });

  test("buttons and menus, in a frame where a colour is set", async () => {
    const buttons = [
      [
        { text: "Yes", callback_data: "/yes" },
        { text: "Docs", url: "https://example.com" },
      ],
      { options: ["red", "blue"], placeholder: "Colour" },
    ];
    const payload = { text: "Choose", channelData: { discord: { buttons } } };
    await plugin.outbound!.sendPayload!({ cfg: cfg(), to: to(), text: "Choose", payload });
    expect(last()).toMatchObject({
      content: "Choose",
      components: [
        {
          type: 1,
          components: [
            { custom_id: "/yes", label: "Yes" },
            { url: "https://example.com", style: 5 },
          ],
        },
        { type: 1, components: [{ type: 3, options: [{ value: "red" }, { value: "blue" }], placeholder: "Colour" }] },
      ],
    });
    await plugin.outbound!.sendPayload!({ cfg: cfg({ ui: { components: { accentColor: "#5865F2" } } }), to: to(), text: "Choose", payload });
    expect(last()).toMatchObject({
      content: "",
      flags: 1 << 15,
      components: [{ type: 17, accent_color: 0x58_65_f2, components: [{ type: 10, content: "Choose" }, {}, {}] }],
    });
  });

  test("with autoThread an answer goes to a thread of its message, the same one each time", async () => {
    const config = { guilds: { [guild.id]: { channels: { [channel.id]: { autoThread: true } } } } };
    const said = discord.say("a long story", { channel });
    for (const text of ["first", "second"]) await plugin.outbound!.sendText!({ cfg: cfg(config), to: to(), text, answersId: said.id });
    const thread = discord.world.channels.get(said.id)!;
    expect(discord.messages(thread).map(({ content }) => content)).toEqual(["first", "second"]);
    expect(thread.thread_metadata).toBeDefined();
  });

  test("the first post of a preview has a nonce: one whose answer was lost is found again", async () => {
    discord.server.faults.add({ on: /messages$/, reset: true, applied: true });
    const preview = plugin.preview!.open({
      cfg: cfg({ streaming: "partial" }),
      accountId: "default",
      to: to(),
      chatType: "channel",
      signal: new AbortController().signal,
    })!;
    await preview.update("the beginning of an answer that is longer");
    expect(await preview.seal()).toBe(last().id);
    expect(discord.messages(channel)).toHaveLength(1);
  });

  test("a preview grows in one message and becomes the answer, or goes away", async () => {
    const config = { streaming: "partial" };
    const open = () => plugin.preview!.open({ cfg: cfg(config), accountId: "default", to: to(), chatType: "channel", signal: AbortSignal.timeout(10_000) })!;
    const preview = open();
    await preview.update("short");
    await preview.update(`${"growing ".repeat(10)}@everyone`);
    await preview.update("growing ".repeat(20));
    const id = (await preview.seal())!;
    expect(last()).toMatchObject({ id, content: "growing ".repeat(20).trim(), mention_everyone: false });
    const answer = { cfg: cfg(), to: to(), text: "The answer.", previewId: id, payload: {} };
    expect(await plugin.outbound!.editPreview!(answer)).toMatchObject({ messageId: id });
    expect(last()).toMatchObject({ id, content: "The answer." });
    expect(await plugin.outbound!.editPreview!({ ...answer, previewId: "123456789012345678" })).toBeUndefined();
    const other = open();
    await other.update("y".repeat(50));
    const gone = other.id!();
    await other.discard();
    expect(discord.messages(channel).some((message) => message.id === gone)).toBe(false);
    expect(plugin.preview!.open({ cfg: cfg(), accountId: "default", to: to(), chatType: "channel", signal: AbortSignal.timeout(1000) })).toBeUndefined();
  });
});
