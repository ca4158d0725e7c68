import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ChannelOutboundContext } from "openclaw/plugin-sdk";
import type { Transport } from "openclaw/plugin-sdk/channel-kit";
import { createSlackPlugin } from "../channel.ts";
import { startLab } from "../testing.ts";

let lab: Awaited<ReturnType<typeof startLab>>;
let folder: string;
beforeEach(async () => {
  lab = await startLab();
  folder = mkdtempSync(join(tmpdir(), "slack-media-"));
});
afterEach(async () => {
  await lab[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

type Over = Partial<ChannelOutboundContext>;
const contextOf = (over: Over = {}): ChannelOutboundContext => ({ cfg: lab.cfg, to: `channel:${lab.chatId}`, text: "hello", ...over });
const send = (over?: Over) => lab.channel.outbound!.sendText!(contextOf(over));
const seen = (channel = lab.chatId) => lab.slack.world.messages(channel);
const failed = (work: Promise<unknown>) =>
  work.then(
    () => expect.fail("it was sent"),
    (error: unknown) => error as Error & { readonly delivery: unknown },
  );

describe("a text", () => {
  test("is written in Slack's own markup, and calls nobody together", async () => {
    await send({ text: "**b** _i_ ~~s~~ [l](https://x.test) a<b&c <!channel> <!here> <!everyone> <@U0123456789> `<!channel>`" });
    expect(seen().at(-1)!.text).toBe(
      "*b* _i_ ~s~ <https://x.test|l> a&lt;b&amp;c &lt;!channel&gt; &lt;!here&gt; &lt;!everyone&gt; <@U0123456789> `&lt;!channel&gt;`",
    );
  });

  test.each([
    ["a person", () => `user:${lab.ada.id}`],
    ["a person in lower case", () => `user:${lab.ada.id.toLowerCase()}`],
    ["a person by a mention", () => `<@${lab.ada.id}>`],
    ["a person by a bare id", () => lab.ada.id],
  ])("to %s opens the direct chat, once", async (_, to) => {
    await send({ to: to() });
    await send({ to: to() });
    expect(seen(lab.slack.world.direct(lab.ada.id).id)).toHaveLength(2);
    expect(lab.slack.calls().filter((call) => call === "conversations.open")).toHaveLength(1);
  });

  test("belongs to the thread it is in, else to the message that it answers", async () => {
    const root = lab.slack.world.post({ channel: lab.chatId, text: "root", user: lab.ada.id }).ts;
    const other = lab.slack.world.post({ channel: lab.chatId, text: "other", user: lab.ada.id }).ts;
    await send({ threadId: root, replyToId: other });
    await send({ replyToId: other });
    await send({ replyToId: "command:1.2" });
    expect(
      seen()
        .slice(2)
        .map(({ threadTs }) => threadTs),
    ).toEqual([root, other, undefined]);
  });

  test("has the agent's name, and goes without where the app may not choose one", async () => {
    await send({ identity: { name: "Robin", emoji: ":robot_face:" } });
    lab.slack.scopes.delete("chat:write.customize");
    await send({ identity: { name: "Robin", emoji: "🤖" } });
    expect(seen().map(({ username }) => username)).toEqual(["Robin", undefined]);
  });

  test("that may have arrived is found by its id, and not sent a second time", async () => {
    lab.slack.server.faults.add({ on: "chat.postMessage", reset: true, applied: true });
    expect(await failed(send({ nonce: "n1" }))).toMatchObject({ delivery: { state: "unknown" } });
    const again = await send({ nonce: "n1", isRepeat: true });
    expect(seen().map(({ ts }) => ts)).toEqual([again.messageId]);
    expect((await send({ nonce: "n2", isRepeat: true })).messageId).not.toBe(again.messageId);
    lab.slack.scopes.delete("channels:history");
    await send({ nonce: "n1", isRepeat: true });
    expect(seen().at(-1)!.text, "nobody can look").toBe("(repeat?) hello");
  });

  test.each([
    ["ratelimited", { status: 429, headers: { "retry-after": "40" }, body: { ok: false, error: "ratelimited" } }, { state: "retry", retryAfterMs: 40_000 }],
    ["channel_not_found", { status: 200, body: { ok: false, error: "channel_not_found" } }, { state: "failed" }],
    ["fatal_error", { status: 200, body: { ok: false, error: "fatal_error" } }, { state: "unknown" }],
    ["service_unavailable", { status: 503, body: { ok: false, error: "service_unavailable" } }, { state: "retry" }],
    ["no JSON", { garbage: true }, { state: "unknown" }],
    ["a server error", { status: 502, body: "<html>" }, { state: "unknown" }],
  ] as const)("%s says what became of it", async (_, fault, delivery) => {
    lab.slack.server.faults.add({ on: "chat.postMessage", ...fault });
    const error = await failed(send());
    expect(error).toMatchObject({ delivery });
    expect(String(error)).not.toContain(lab.slack.botToken);
  });

  test("to a channel that the bot is not in, or that is archived, says what to do", async () => {
    const { world } = lab.slack;
    const foreign = world.conversation("channel", "foreign", [lab.ada.id]);
    expect(await failed(send({ to: `channel:${foreign.id}` }))).toMatchObject({
      delivery: { state: "failed" },
      message: expect.stringContaining("/invite") as unknown,
    });
    world.conversations.get(lab.chatId)!.isArchived = true;
    expect(await failed(send())).toMatchObject({ delivery: { state: "failed" }, reason: "is_archived" });
    await expect(send({ to: "channel:" })).rejects.toThrow(/is not a Slack target/);
  });
});

describe("a file", () => {
  const file = (name: string, bytes: string): string => {
    writeFileSync(join(folder, name), bytes);
    return join(folder, name);
  };
  const sendFile = (over: Over = {}) =>
    lab.channel.outbound!.sendMedia!(contextOf({ text: "**look**", mediaUrl: file("notes.txt", "words"), mediaLocalRoots: [folder], ...over }));

  test("goes in three steps, its bytes to another host without the token, with its text below", async () => {
    const root = lab.slack.world.post({ channel: lab.chatId, text: "root", user: lab.ada.id }).ts;
    await sendFile({ threadId: root });
    const { text, threadTs, files } = seen().at(-1)!;
    expect([text, threadTs, files[0]!.name, files[0]!.data.toString()]).toEqual(["*look*", root, "notes.txt", "words"]);
    expect(lab.slack.files.asked.map(({ headers }) => headers.authorization)).toEqual([undefined]);
  });

  test("among several is shared with them in one message", async () => {
    const mediaUrls = [file("notes.txt", "words"), file("more.txt", "more")];
    await sendFile({ mediaUrl: mediaUrls[0], mediaUrls });
    const { text, files } = seen().at(-1)!;
    expect([text, files.map(({ name }) => name)]).toEqual(["*look*", ["notes.txt", "more.txt"]]);
    expect(seen()).toHaveLength(1);
  });

  test("that breaks on the way up may be sent again; after the last step nobody knows", async () => {
    lab.slack.files.faults.add({ reset: true });
    expect(await failed(sendFile())).toMatchObject({ delivery: { state: "retry" } });
    lab.slack.server.faults.add({ on: "completeUploadExternal", reset: true, applied: true });
    expect(await failed(sendFile())).toMatchObject({ delivery: { state: "unknown" } });
    expect(seen()).toHaveLength(1);
  });

  test("from elsewhere goes nowhere", async () => {
    expect(await failed(sendFile({ mediaUrl: "/etc/hostname" }))).toMatchObject({ delivery: { state: "failed" } });
  });

  test("of a message is fetched with the token, which does not follow to another host", async () => {
    const asked: (readonly [string, string | undefined])[] = [];
    const transport: Transport = {
      async request(url, { headers }) {
        asked.push([new URL(url).host, headers?.["authorization"]]);
        const isFirst = asked.length === 1;
        return {
          status: isFirst ? 302 : 200,
          headers: isFirst ? { location: "https://a.slack-edge.com/x" } : { "content-type": "image/png" },
          bytes: async () => Buffer.from("png"),
          stream: () => expect.fail("not a stream"),
        };
      },
      close: () => {},
    };
    const channel = createSlackPlugin({ transport });
    const params = { cfg: lab.cfg, accountId: "default", maxBytes: 100, signal: new AbortController().signal };
    expect((await channel.media!.fetch({ ...params, ref: { url: "https://files.slack.com/files-pri/x" } })).data.toString()).toBe("png");
    expect(asked).toEqual([
      ["files.slack.com", `Bearer ${lab.slack.botToken}`],
      ["a.slack-edge.com", undefined],
    ]);
    await expect(channel.media!.fetch({ ...params, ref: { url: "http://files.slack.com/x" } })).rejects.toThrow(/over https only/);
  });
});

describe("while an answer is written", () => {
  const signal = new AbortController().signal;
  const open = (over: object = {}, config: Record<string, unknown> = {}) => {
    const slack = { ...(lab.cfg as { channels: { slack: object } }).channels.slack, ...config };
    return lab.channel.preview!.open({
      cfg: { channels: { slack } },
      accountId: "default",
      to: `channel:${lab.chatId}`,
      chatType: "channel",
      signal,
      ...over,
    });
  };

  test("a thread shows Slack's own stream, which becomes the answer", async () => {
    const said = lab.slack.world.post({ channel: lab.chatId, text: "q", user: lab.ada.id }).ts;
    await lab.start();
    lab.slack.people.say("hm", { by: lab.ada, channel: lab.chatId, thread: said });
    await lab.event(({ text }) => text === "hm");
    const preview = open({ threadId: said })!;
    await preview.update("One two");
    await preview.update("One two three");
    const id = (await preview.seal())!;
    expect(seen().at(-1)).toMatchObject({ ts: id, text: "One two three", threadTs: said, isStreaming: false });
    await lab.channel.outbound!.editPreview!({ ...contextOf({ text: "**Done**", threadId: said }), payload: { text: "**Done**" }, previewId: id });
    expect(seen().at(-1)).toMatchObject({ ts: id, text: "*Done*" });
    expect(lab.slack.calls().filter((call) => call.startsWith("chat."))).toEqual(["chat.startStream", "chat.appendStream", "chat.stopStream", "chat.update"]);
  });

  test("a stream that was left open by another process is ended before it becomes the answer", async () => {
    const { world } = lab.slack;
    const said = world.post({ channel: lab.chatId, text: "q", user: lab.ada.id }).ts;
    const { ts } = world.post({ channel: lab.chatId, text: "half", user: world.bot.id, botId: world.bot.botId, threadTs: said, isStreaming: true });
    await lab.channel.outbound!.editPreview!({ ...contextOf({ text: "whole", threadId: said }), payload: { text: "whole" }, previewId: ts });
    expect(world.find(lab.chatId, ts)).toMatchObject({ text: "whole", isStreaming: false });
  });

  test("elsewhere a message is edited, and goes where it is not wanted", async () => {
    const preview = open()!;
    await preview.update("One **two**");
    await preview.update("Another text");
    expect(seen().map(({ text }) => text)).toEqual(["Another text"]);
    expect(preview.id!()).toBe(seen()[0]!.ts);
    await preview.discard();
    expect(seen()).toEqual([]);
  });

  test.each([
    ["status_final", ["_Writing…_"]],
    ["append", ["One\n\nTwo"]],
    ["off", []],
  ])("streamMode %s", async (streamMode, expected) => {
    const preview = open({}, { streamMode });
    await preview?.update("One");
    await preview?.update("Two");
    expect(seen().map(({ text }) => text)).toEqual(expected);
  });

  test("an answer that is too long for an edit is sent as a new message", async () => {
    const { world } = lab.slack;
    const { ts } = world.post({ channel: lab.chatId, text: "half", user: world.bot.id, botId: world.bot.botId });
    const text = "&".repeat(3000);
    expect(await lab.channel.outbound!.editPreview!({ ...contextOf({ text }), payload: { text }, previewId: ts })).toBeUndefined();
    await send({ text, stalePreviewId: ts });
    expect(seen()).toHaveLength(1);
  });

  test("a thread shows that someone writes; an app without that shows nothing and asks once", async () => {
    const said = lab.slack.world.post({ channel: lab.chatId, text: "q", user: lab.ada.id }).ts;
    const where = { cfg: lab.cfg, accountId: "default", to: `channel:${lab.chatId}`, threadId: said };
    await lab.channel.typing!.start({ ...where, signal });
    await lab.channel.typing!.stop!(where);
    expect(lab.slack.statuses.map(({ status }) => status)).toEqual(["is writing…", ""]);
    lab.slack.scopes.delete("assistant:write");
    for (const _ of [1, 2, 3]) await lab.channel.typing!.start({ ...where, signal });
    expect(lab.slack.calls().filter((call) => call.startsWith("assistant"))).toHaveLength(3);
  });

  test("our sign on a message is set by its name, and taken away", async () => {
    const { ts } = lab.slack.world.post({ channel: lab.chatId, text: "q", user: lab.ada.id });
    const set = (emoji: string) => lab.channel.reactions!.set({ cfg: lab.cfg, accountId: "default", to: `channel:${lab.chatId}`, messageId: ts, emoji });
    await set("👀");
    await set("eyes");
    expect([...lab.slack.world.find(lab.chatId, ts)!.reactions.keys()]).toEqual(["eyes"]);
    await set("");
    expect(lab.slack.world.find(lab.chatId, ts)!.reactions.size).toBe(0);
  });
});
