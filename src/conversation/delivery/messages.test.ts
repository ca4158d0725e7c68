import { expect, test } from "vitest";
import { silentLogger } from "../../base/log/logger.ts";
import type { ChannelMessageActionContext, ChannelPlugin, HostConfig, ReplyPayload } from "../../protocol/index.ts";
import type { ToolCall, ToolContext } from "../../tools/index.ts";
import type { ReplyAddress } from "../address.ts";
import type { OutgoingFacts, SendReport } from "./delivery.ts";
import { fakeChannel } from "./delivery.fixture.ts";
import { messageTool, type CurrentChat } from "./message-tool.ts";
import { createMessages, type MirroredMessage } from "./messages.ts";

interface Sent {
  readonly address: ReplyAddress;
  readonly payloads: readonly ReplyPayload[];
  readonly facts: OutgoingFacts;
}

function setup(cfg: HostConfig = { channels: { chat: {} } }, report: Partial<SendReport> = {}) {
  const sent: Sent[] = [];
  const acted: ChannelMessageActionContext[] = [];
  const mirrored: MirroredMessage[] = [];
  const poll = { sendPoll: () => Promise.resolve({ messageId: "p" }), pollMaxOptions: 3 };
  const chat = fakeChannel(
    [],
    {
      ...poll,
      resolveTarget: ({ to, mode, allowFrom }) =>
        mode === "implicit" && !allowFrom?.includes(to!) ? { ok: false, error: new Error("not on the allow list") } : { ok: true, to: to! },
    },
    {
      messaging: { normalizeTarget: (raw) => raw.replace(/^chat:/, "") },
      threading: { buildToolContext: ({ context }) => ({ currentThreadTs: `topic ${context.MessageThreadId}`, replyToMode: "first" }) },
      config: { listAccountIds: () => ["default", "work"], resolveAccount: () => ({}), resolveAllowFrom: () => ["1"] },
      actions: {
        listActions: () => ["react", "edit"],
        handleAction: (context) => {
          acted.push(context);
          return Promise.resolve({ content: [], details: { done: context.action } });
        },
      },
    },
  ).plugin;
  const other = { ...fakeChannel().plugin, id: "other", meta: { ...chat.meta, id: "other", aliases: ["oth"] } } as ChannelPlugin;
  const plugins = [chat, other];
  const messages = createMessages({
    delivery: {
      send: (address, payloads, facts) => {
        sent.push({ address, payloads, facts });
        return Promise.resolve({ state: "sent", messageIds: ["m1"], rowIds: [1], ...report } as SendReport);
      },
    },
    channels: { get: (id) => plugins.find((plugin) => plugin.id === id), list: () => plugins },
    config: () => cfg,
    log: silentLogger,
    mirror: (message) => Promise.resolve(void mirrored.push(message)),
  });
  return { messages, sent, acted, mirrored, cfg };
}

test("the only configured channel is meant when none is named, and the target is normalised", async () => {
  const { messages, sent, mirrored } = setup();
  expect(await messages.send({ to: " chat:5 ", text: "hi", threadId: "7", replyToId: "3" })).toMatchObject({
    state: "sent",
    channel: "chat",
    accountId: "default",
    to: "5",
  });
  expect(sent[0]).toMatchObject({ address: { to: "5", threadId: "7", replyToId: "3" }, payloads: [{ text: "hi" }], facts: { kind: "send" } });
  expect(mirrored).toMatchObject([{ text: "hi", address: { to: "5" } }]);
});

test.each([
  ["no channel is configured", {}, { to: "1", text: "x" }, "no channel is configured"],
  ["several could be meant", { channels: { chat: {}, other: {} } }, { to: "1", text: "x" }, "several are configured: chat, other"],
  ["a channel that is not there", { channels: {} }, { channel: "fax", to: "1", text: "x" }, `there is no channel "fax"`],
  ["an account that is not there", { channels: { chat: {} } }, { accountId: "home", to: "1", text: "x" }, `no account "home"`],
  ["no target", { channels: { chat: {} } }, { to: " ", text: "x" }, "target is missing"],
  ["nothing to say", { channels: { chat: {} } }, { to: "1", text: " " }, "needs a text or a file"],
  [
    "a target that was not written down and is not allowed",
    { channels: { chat: {} } },
    { to: "2", text: "x", mode: "implicit" as const },
    "not on the allow list",
  ],
])("%s is said in words", async (_, cfg, request, words) => {
  const { messages, sent } = setup(cfg);
  await expect(messages.send(request)).rejects.toMatchObject({ code: "INVALID_INPUT", message: expect.stringContaining(words) });
  expect(sent).toEqual([]);
});

test("a dry run names the place and sends nothing", async () => {
  const { messages, sent } = setup();
  expect(await messages.send({ to: "5", text: "x", dryRun: true })).toMatchObject({ dryRun: true, to: "5", channel: "chat" });
  expect(sent).toEqual([]);
});

test("a poll keeps to what the channel can do", async () => {
  const { messages, sent } = setup();
  const poll = { question: "?", options: ["a", "b"] };
  await messages.poll({ to: "5", poll });
  expect(sent[0]).toMatchObject({ payloads: [], facts: { poll } });
  await expect(messages.poll({ to: "5", poll: { ...poll, options: ["a", "b", "c", "d"] } })).rejects.toThrow("at most 3 options, not 4");
  await expect(messages.poll({ to: "5", poll: { ...poll, options: ["a"] } })).rejects.toThrow("at least 2");
  await expect(messages.poll({ channel: "other", to: "5", poll })).rejects.toThrow("other does not support polls");
});

test("an action goes to its channel; one that the channel does not know is refused with those it knows", async () => {
  const { messages, acted } = setup();
  expect(await messages.action({ action: "react", params: { to: "chat:5", emoji: "x" }, requesterSenderId: "1" })).toEqual({ done: "react" });
  expect(acted[0]).toMatchObject({ params: { to: "5", emoji: "x" }, accountId: "default", requesterSenderId: "1" });
  await expect(messages.action({ action: "ban", params: {} })).rejects.toThrow("chat cannot ban; it can: send, react, edit");
});

const CONTEXT = {
  agentId: "main",
  sessionKey: "agent:main:main",
  sessionId: "s",
  runId: "r1",
  workspaceDir: "/",
  owner: true,
  senderId: "u1",
} satisfies ToolContext;
const HERE: CurrentChat = { channel: "chat", accountId: "work", to: "5", threadId: 7, messageId: "99" };

function toolIn(parts: ReturnType<typeof setup>, current: CurrentChat | undefined = HERE) {
  const saveFile: Parameters<typeof messageTool>[0]["saveFile"] = async ({ data, fileName }) => `/state/media/outbound/${data.toString()}-${fileName}`;
  const tool = messageTool({ messages: parts.messages, config: () => parts.cfg, current: () => current, saveFile });
  return async (params: Record<string, unknown>, context: Partial<ToolContext> = {}) => {
    const call = { id: "c", params, signal: new AbortController().signal, update: () => {}, context: { ...CONTEXT, ...context } } satisfies ToolCall;
    const outcome = await tool.run(call);
    const [part] = outcome.content;
    return { isError: outcome.isError, text: part?.type === "text" ? part.text : "" };
  };
}

test("the tool answers in the conversation it runs in, reads directives, and tells that it was sent", async () => {
  const parts = setup();
  const run = toolIn(parts);
  const { isError, text } = await run({ action: "send", message: "one\\ntwo [[reply_to_current]]" });
  expect([isError, JSON.parse(text)]).toMatchObject([false, { ok: true, state: "sent", messageId: "m1", to: "5" }]);
  expect(parts.sent[0]).toMatchObject({
    address: { channel: "chat", accountId: "work", to: "5", threadId: 7, replyToId: "99" },
    payloads: [{ text: expect.stringMatching(/^one\ntwo/) }],
    facts: { runId: "r1", agentId: "main" },
  });
});

test("a path without a folder before it is a file of the workspace; addresses and whole paths stay as they are", async () => {
  const parts = setup();
  const tool = messageTool({ messages: parts.messages, config: () => parts.cfg, current: () => undefined, mediaRoots: () => ["/space/main", "/state/media"] });
  const sentFor = async (media: string): Promise<unknown> => {
    const params = { action: "send", channel: "chat", target: "1", message: "see", media };
    await tool.run({ id: "c", params, signal: new AbortController().signal, update: () => {}, context: CONTEXT });
    return parts.sent.at(-1)!.payloads[0]!.mediaUrls?.[0];
  };
  expect(await sentFor("out/report.txt")).toBe("/space/main/out/report.txt");
  for (const media of ["/space/main/report.txt", "https://example.com/a.png", "file:///space/main/a.png"]) expect(await sentFor(media)).toBe(media);
});

test("a file that a call carries as text is stored and sent; what is no base64 is refused", async () => {
  const parts = setup();
  const run = toolIn(parts);
  await run({ action: "send", message: "see", buffer: `data:text/plain;base64,${Buffer.from("words").toString("base64")}`, filename: "notes.txt" });
  expect(parts.sent[0]!.payloads).toMatchObject([{ text: "see", mediaUrls: ["/state/media/outbound/words-notes.txt"] }]);
  expect(await run({ action: "send", message: "see", buffer: "%%%" })).toMatchObject({ isError: true, text: expect.stringContaining("base64") as string });
  expect(parts.sent).toHaveLength(1);
});

test("what could not be sent is a failure to the model, and a repeat is not asked for where it may have arrived", async () => {
  const failed = await toolIn(setup(undefined, { state: "failed", why: "blocked", messageIds: [] }))({ action: "send", message: "x" });
  expect([failed.isError, failed.text]).toEqual([true, expect.stringContaining("blocked")]);
  const unknown = await toolIn(setup(undefined, { state: "unknown", messageIds: [] }))({ action: "send", message: "x" });
  expect([unknown.isError, unknown.text]).toEqual([true, expect.stringContaining("do not send it again")]);
});

test.each([
  ["another channel", {}, { channel: "other", target: "1" }, "allowAcrossProviders"],
  ["another channel, when that is allowed", { crossContext: { allowAcrossProviders: true } }, { channel: "other", target: "1" }, undefined],
  ["another channel, by the older switch", { allowCrossContextSend: true }, { channel: "other", target: "1" }, undefined],
  ["another chat", {}, { target: "6" }, undefined],
  ["another chat, when that is forbidden", { crossContext: { allowWithinProvider: false } }, { target: "6" }, "allowWithinProvider"],
])("the tool and %s", async (_, message, params, words) => {
  const parts = setup({ channels: { chat: {}, other: {} }, tools: { message } });
  const { isError, text } = await toolIn(parts)({ action: "send", message: "x", ...params });
  expect([isError, parts.sent.length]).toEqual(words === undefined ? [false, 1] : [true, 0]);
  if (words !== undefined) expect(text).toContain(words);
});

test("another chat gets neither the thread nor the quoted message of this one", async () => {
  const parts = setup();
  await toolIn(parts)({ action: "send", message: "x [[reply_to_current]]", target: "6" });
  expect(parts.sent[0]!.address).toEqual({ channel: "chat", accountId: "work", to: "6", chatType: "direct" });
});

test("without a conversation the tool asks for a target, and a scheduled run always does", async () => {
  const parts = setup();
  const run = toolIn(parts, undefined);
  const tool = messageTool({ messages: parts.messages, config: () => parts.cfg, current: () => undefined });
  expect((tool.parameters["properties"] as { action: { enum: string[] } }).action.enum).toEqual(["send", "broadcast", "poll", "react", "edit"]);
  expect(await run({ action: "send", message: "x" }, { jobId: "j" })).toMatchObject({ isError: true, text: expect.stringContaining("set target") });
  const nobody = await tool.run({
    id: "c",
    params: { action: "send", message: "x" },
    signal: new AbortController().signal,
    update: () => {},
    context: CONTEXT,
  });
  expect(nobody).toMatchObject({ isError: true, content: [{ text: "Action send requires a target." }] });
});

test("a broadcast tells the outcome of each target and can be switched off", async () => {
  const parts = setup();
  const { text } = await toolIn(parts)({ action: "broadcast", targets: ["6", " "], message: "x" });
  expect(JSON.parse(text)).toEqual({ ok: true, results: [{ to: "6", ok: true, state: "sent", messageId: "m1" }] });
  const off = setup({ channels: { chat: {} }, tools: { message: { broadcast: { enabled: false } } } });
  expect(await toolIn(off)({ action: "broadcast", targets: ["6"], message: "x" })).toMatchObject({ isError: true });
});

test("an action of the tool acts on the message that is answered, for the person who wrote it", async () => {
  const parts = setup();
  await toolIn(parts)({ action: "react", emoji: "👍", requesterSenderId: "forged" });
  expect(parts.acted[0]).toMatchObject({ action: "react", params: { to: "5", messageId: "99", emoji: "👍" }, requesterSenderId: "u1" });
});

test("an action gets the agent's current chat, in the channel's own terms, and nothing about another channel's chat", async () => {
  const { messages, acted } = setup();
  const current = { accountId: "work", to: "5", threadId: 7 };
  const [own, other] = [
    { ...current, channel: "chat" },
    { ...current, channel: "other" },
  ];
  for (const chat of [own, other]) await messages.action({ action: "react", channel: "chat", params: { to: "5" }, current: chat });
  expect(acted.map(({ toolContext }) => toolContext)).toEqual([
    { currentChannelId: "5", currentChannelProvider: "chat", currentThreadTs: "topic 7", replyToMode: "first" },
    undefined,
  ]);
});

test("a channel that describes the message tool in one answer, names its own targets, and takes cards", async () => {
  const acted: ChannelMessageActionContext[] = [];
  const cfg: HostConfig = { channels: { chat: {} } };
  const plain = { ...fakeChannel().plugin, id: "plain" } as ChannelPlugin;
  const { plugin } = fakeChannel(
    [],
    {},
    {
      config: { listAccountIds: () => ["default", "work"], resolveAccount: () => ({}) },
      actions: {
        describeMessageTool: () => ({ actions: ["pin"], capabilities: ["buttons"] }),
        supportsCards: () => true,
        extractToolSend: ({ args }) => (typeof args["group"] === "string" ? { to: args["group"], accountId: "work" } : null),
        handleAction: (context) => {
          acted.push(context);
          return Promise.resolve({ content: [], details: { done: context.action } });
        },
      },
    },
  );
  const plugins = [plugin, plain];
  const messages = createMessages({
    delivery: { send: () => Promise.reject(new Error("nothing is sent")) },
    channels: { get: (id) => plugins.find((one) => one.id === id), list: () => plugins },
    config: () => cfg,
    log: silentLogger,
  });
  expect([messages.actions("chat"), messages.actions("plain")]).toEqual([["pin"], []]);
  expect(await messages.action({ action: "pin", channel: "chat", params: { group: "9", messageId: "1" } })).toEqual({ done: "pin" });
  expect(acted).toMatchObject([{ action: "pin", accountId: "work", params: { group: "9", to: "9" } }]);
  const fields = (channel: string) =>
    Object.keys((messageTool({ messages, config: () => cfg, current: () => undefined, channel }).parameters as { properties: object }).properties);
  expect([fields("chat").includes("card"), fields("plain").includes("card")]).toEqual([true, false]);
});
