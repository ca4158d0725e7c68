import { afterEach, beforeEach, expect, test } from "vitest";
import { startLab } from "./testing.ts";

let lab: Awaited<ReturnType<typeof startLab>>;
beforeEach(async () => {
  lab = await startLab();
});
afterEach(() => lab[Symbol.asyncDispose]());

type Action = Parameters<NonNullable<NonNullable<typeof lab.channel.actions>["handleAction"]>>[0]["action"];

const cfgWith = (config: Record<string, unknown>) =>
  ({ channels: { slack: { ...(lab.cfg as { channels: { slack: object } }).channels.slack, ...config } } }) as typeof lab.cfg;

async function act(action: Action, params: Record<string, unknown> = {}, cfg = lab.cfg): Promise<Record<string, unknown>> {
  const result = await lab.channel.actions!.handleAction!({ channel: "slack", action, cfg, params: { to: `channel:${lab.chatId}`, ...params } });
  return result.details as Record<string, unknown>;
}

test("an agent sends, reads, edits, reacts, pins and deletes", async () => {
  const { world } = lab.slack;
  const { messageId } = await act("send", { message: "**hi**", buttons: [[{ text: "Yes", value: "yes" }]] });
  expect(world.find(lab.chatId, String(messageId))).toMatchObject({ text: "*hi*", blocks: [{ type: "section" }, { type: "actions" }] });
  await act("edit", { messageId, message: "there" });
  await act("react", { messageId, emoji: ":tada:" });
  expect(await act("reactions", { messageId })).toMatchObject({ reactions: [{ name: "tada", users: [world.bot.id] }] });
  expect(await act("react", { messageId, emoji: "" })).toMatchObject({ removed: ["tada"] });
  await act("pin", { messageId });
  expect(await act("list-pins")).toMatchObject({ pins: [{ ts: messageId, text: "there" }] });
  await act("unpin", { messageId });
  expect(await act("read", { limit: 5 })).toMatchObject({ messages: [{ ts: messageId, text: "there" }] });
  await act("delete", { messageId });
  expect(world.messages(lab.chatId)).toEqual([]);
});

test("an agent looks up people, emoji, channels and what it may do", async () => {
  expect(await act("member-info", { userId: lab.ada.id })).toMatchObject({ user: { id: lab.ada.id, name: "ada" } });
  expect(await act("emoji-list")).toMatchObject({ emoji: ["party_claw"] });
  expect(await act("channel-info")).toMatchObject({ channel: { id: lab.chatId, name: "general" } });
  expect(await act("permissions")).toMatchObject({ scopes: expect.arrayContaining(["chat:write"]) as unknown });
  await expect(act("search", { query: "x" })).rejects.toThrow(/userToken/);
  lab.slack.world.post({ channel: lab.chatId, text: "find w-me", user: lab.ada.id });
  expect(await act("search", { query: "w-me" }, cfgWith({ userToken: lab.slack.userToken }))).toMatchObject({
    matches: [{ text: "find w-me", channel: lab.chatId }],
  });
});

test("actions are off where their switch is, and unknown ones say what there is", async () => {
  const list = (config: Record<string, unknown> = {}) => lab.channel.actions!.listActions!({ cfg: cfgWith(config) });
  expect(list()).toEqual([
    "send",
    "react",
    "reactions",
    "read",
    "edit",
    "delete",
    "pin",
    "unpin",
    "list-pins",
    "member-info",
    "emoji-list",
    "permissions",
    "channel-info",
  ]);
  expect(
    list({ actions: { reactions: false, messages: false, pins: false, memberInfo: false, emojiList: false, permissions: false, channelInfo: false } }),
  ).toEqual(["send"]);
  await expect(act("pin", { messageId: "1700000000.000100" }, cfgWith({ actions: { pins: false } }))).rejects.toThrow(/actions\.pins/);
  await expect(act("poll")).rejects.toThrow(/no action poll/);
  await expect(act("react", { messageId: "17", emoji: "x" })).rejects.toThrow(/messageId/);
});

test("a user's token reads; it writes only where the configuration lets it", async () => {
  const tokens = () => lab.slack.server.asked.map(({ headers }) => headers.authorization?.slice("Bearer ".length));
  await act("read", {}, cfgWith({ userToken: lab.slack.userToken }));
  await act("send", { message: "x" }, cfgWith({ userToken: lab.slack.userToken }));
  expect(tokens()).toEqual([lab.slack.userToken, lab.slack.botToken]);
  const alone = { botToken: undefined, userToken: lab.slack.userToken };
  await expect(act("send", { message: "x" }, cfgWith(alone))).rejects.toThrow(/botToken/);
  await act("send", { message: "x" }, cfgWith({ ...alone, userTokenReadOnly: false }));
  expect(tokens().at(-1)).toBe(lab.slack.userToken);
});

test("people and channels are listed, and names become ids", async () => {
  const runtime = { log: () => {}, error: () => {}, exit: () => {} };
  const at = { cfg: lab.cfg, accountId: "default", runtime };
  const { directory, resolver } = lab.channel;
  expect(await directory!.self!(at)).toMatchObject({ id: `user:${lab.slack.world.bot.id}`, name: "claw" });
  expect(await directory!.listPeersLive!({ ...at, query: "@claw" })).toMatchObject([{ kind: "user", id: `user:${lab.slack.world.bot.id}`, name: "claw" }]);
  expect(await directory!.listGroupsLive!({ ...at, query: "#gen" })).toMatchObject([{ kind: "channel", id: `channel:${lab.chatId}` }]);
  expect(await directory!.listGroupMembers!({ ...at, groupId: `channel:${lab.chatId}` })).toMatchObject([{ name: "ada" }, { name: "claw" }]);
  expect(await resolver!.resolveTargets({ ...at, inputs: ["#general", "#nope"], kind: "group" })).toMatchObject([
    { resolved: true, id: lab.chatId },
    { resolved: false },
  ]);
  expect(await resolver!.resolveTargets({ ...at, inputs: ["ada@acme.example"], kind: "user" })).toMatchObject([{ resolved: true, id: lab.ada.id }]);
});

test.each([
  ["nothing", {}, /no bot token/],
  ["HTTP mode without a secret", { mode: "http", botToken: "xoxb-1" }, /no signing secret/],
  ["Socket Mode without an app token", { botToken: "xoxb-1" }, /no app token/],
  ["a token of another kind", { botToken: "xoxp-1", appToken: "xapp-1" }, /starts with xoxb-/],
])("an account with %s says what is missing", (_, slack, problem) => {
  const cfg = { channels: { slack } } as never;
  const account = lab.channel.config.resolveAccount(cfg, "default");
  expect(lab.channel.config.unconfiguredReason!(account, cfg)).toMatch(problem);
});

test("names admit nobody, and that is said", async () => {
  const cfg = cfgWith({ allowFrom: ["ada", lab.ada.id.toLowerCase()], dm: { groupEnabled: true } });
  const account = lab.channel.config.resolveAccount(cfg, "default");
  const warnings = await lab.channel.security!.collectWarnings!({ cfg, account, accountId: "default" });
  expect(warnings.join("\n")).toMatch(/match nobody: ada\./);
  expect(warnings.join("\n")).toMatch(/dm\.groupEnabled/);
  expect(lab.channel.config.formatAllowFrom!({ cfg, allowFrom: ["slack:u0123", "<@U0456>", "ada"] })).toEqual(["U0123", "U0456", "ada"]);
});

test("answers go into threads as the configuration says, by kind of chat", () => {
  const mode = (config: object, chatType: string) =>
    lab.channel.threading!.resolveReplyToMode!({ cfg: cfgWith(config as never), accountId: "default", chatType });
  expect([
    mode({}, "channel"),
    mode({ replyToMode: "all" }, "channel"),
    mode({ replyToMode: "all", replyToModeByChatType: { direct: "off" } }, "direct"),
    mode({ dm: { replyToMode: "first" } }, "direct"),
  ]).toEqual(["off", "all", "off", "first"]);
});
