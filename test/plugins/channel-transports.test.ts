/** Plugins that send through the channels of the gateway by `api.runtime.channel.<id>`, on the real conversation with its outbox. */
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { createTestHost, type TestHost } from "../../src/plugin-testing/index.ts";
import type { OpenClawPluginApi } from "../../src/plugins/sdk/types/index.ts";
import type { ChannelOutboundContext, ChannelPlugin, ChannelPollContext } from "../../src/protocol/index.ts";
import { startTelegram } from "../fakes/telegram/index.ts";

type Channels = OpenClawPluginApi["runtime"]["channel"];

const IDS = ["discord", "slack", "telegram", "signal", "imessage", "whatsapp"];

interface Sent extends Partial<ChannelOutboundContext>, Partial<Pick<ChannelPollContext, "poll">> {
  readonly channel: string;
}

/** A channel that records what the outbox hands to it. */
function recording(id: string, sent: Sent[]): ChannelPlugin {
  const take = async (context: ChannelOutboundContext | ChannelPollContext) => {
    sent.push({ channel: id, ...context });
    return { channel: id, messageId: `m${sent.length}`, chatId: `chat of ${context.to}` };
  };
  return {
    id,
    meta: { id, label: id, selectionLabel: id, docsPath: `/channels/${id}`, blurb: "" },
    capabilities: { chatTypes: ["direct", "group"] },
    config: { listAccountIds: () => ["default", "second"], resolveAccount: (cfg) => cfg.channels?.[id] },
    outbound: { deliveryMode: "direct", textChunkLimit: 4000, sendText: take, sendMedia: take, sendPayload: take, sendPoll: take },
    status: { probeAccount: async ({ account, timeoutMs }) => ({ ok: true, account, timeoutMs }) },
    resolver: {
      resolveTargets: async ({ cfg, inputs, kind }) =>
        inputs.map((input) => ({ input, resolved: true, id: `${kind} by ${String(cfg.channels?.[id]?.["token"])}` })),
    },
    directory: { listPeersLive: async ({ query, limit }) => [{ kind: "user", id: `${query} ${limit}` }] },
  };
}

interface Place extends AsyncDisposable {
  readonly host: TestHost;
  readonly channels: Channels;
  readonly sent: Sent[];
}

async function open(callerId = "device-pair"): Promise<Place> {
  const sent: Sent[] = [];
  let channels: Channels | undefined;
  const host = await createTestHost({
    config: { channels: { discord: { accounts: { second: { token: "other" } } } } },
    plugins: [
      {
        id: "platforms",
        manifest: { channels: IDS },
        register(api: OpenClawPluginApi) {
          for (const id of IDS) api.registerChannel({ plugin: recording(id, sent) });
        },
      },
      {
        id: callerId,
        register(api: OpenClawPluginApi) {
          ({ channel: channels } = api.runtime);
        },
      },
    ],
  });
  return { host, channels: channels!, sent, [Symbol.asyncDispose]: () => host[Symbol.asyncDispose]() };
}

test("each sender puts its message into the outbox of its channel, in the channel's own words, and returns the receipt", async () => {
  await using place = await open();
  const { channels, sent } = place;
  expect(await channels.telegram.sendMessageTelegram("42", "hello", { messageThreadId: 7, replyToMessageId: 3, silent: true })).toEqual({
    messageId: "m1",
    channel: "telegram",
    chatId: "chat of 42",
  });
  await channels.discord.sendMessageDiscord("channel:1", "hello", { accountId: "second", replyTo: "9" });
  await channels.slack.sendMessageSlack("channel:C1", "hello", { threadTs: "17.5" });
  await channels.signal.sendMessageSignal("+15551234567", "hello");
  await channels.imessage.sendMessageIMessage("+15551234567", "hello", { replyToId: "4" });
  await channels.whatsapp.sendMessageWhatsApp("+15551234567", "hello", { verbose: false });
  expect(sent.map(({ channel, to, accountId, threadId, replyToId, silent }) => ({ channel, to, accountId, threadId, replyToId, silent }))).toMatchObject([
    { channel: "telegram", to: "42", accountId: "default", threadId: "7", replyToId: "3", silent: true },
    { channel: "discord", to: "channel:1", accountId: "second", replyToId: "9" },
    { channel: "slack", to: "channel:C1", threadId: "17.5" },
    { channel: "signal", to: "+15551234567" },
    { channel: "imessage", to: "+15551234567", replyToId: "4" },
    { channel: "whatsapp", to: "+15551234567" },
  ]);
  expect(place.host.replies().map(({ channel, text }) => `${channel}: ${text}`)).toEqual(sent.map(({ channel }) => `${channel}: hello`));
  const poll = { question: "Tea?", options: ["yes", "no"], maxSelections: 1 };
  expect(await channels.telegram.sendPollTelegram("42", poll, { isAnonymous: false })).toMatchObject({ messageId: "m7" });
  expect(sent.at(-1)).toMatchObject({ channel: "telegram", poll, isAnonymous: false });
  await expect(channels.whatsapp.sendPollWhatsApp("+1555", { question: "Tea?", options: ["yes"] })).rejects.toMatchObject({ code: "INVALID_INPUT" });
});

test("probes, directories and lookups ask the channel's plugin, with the credentials that are given", async () => {
  await using place = await open();
  const { channels } = place;
  expect(await channels.discord.probeDiscord("a-token", 1500)).toMatchObject({ ok: true, account: { token: "a-token" }, timeoutMs: 1500 });
  expect(await channels.signal.probeSignal("http://127.0.0.1:1", 10)).toMatchObject({ account: { httpUrl: "http://127.0.0.1:1" } });
  expect(await channels.discord.resolveUserAllowlist({ token: "t", entries: ["ada"] })).toEqual([{ input: "ada", resolved: true, id: "user by t" }]);
  expect(await channels.discord.listDirectoryPeersLive({ query: "a", limit: 2 })).toEqual([{ kind: "user", id: "a 2" }]);
  expect(await channels.slack.listDirectoryGroupsLive({})).toEqual([]);
});

test("what is not there says so, and a plugin that replaces a channel is not led back to itself", async () => {
  await using place = await open();
  const { telegram, whatsapp } = place.channels;
  const gone = { code: "UNAVAILABLE", message: expect.stringMatching(/is not available: the gateway runs this channel itself/) };
  await expect(telegram.monitorTelegramProvider({})).rejects.toMatchObject(gone);
  expect(() => whatsapp.getActiveWebListener()).toThrow(expect.objectContaining(gone));
  await using shell = await open("telegram");
  const refused = { code: "UNAVAILABLE", message: expect.stringMatching(/the plugin "telegram" replaces the bundled telegram channel/) };
  await expect(shell.channels.telegram.sendMessageTelegram("42", "hello")).rejects.toMatchObject(refused);
  expect(await shell.channels.signal.sendMessageSignal("+1555", "hello")).toMatchObject({ channel: "signal" });
  expect(shell.sent.map(({ channel }) => channel)).toEqual(["signal"]);
});

test("the bundled Telegram channel delivers what a plugin sends, and its refusal is an error with the reason", async () => {
  await using telegram = await startTelegram();
  const { id } = telegram.direct(telegram.me);
  let channels: Channels | undefined;
  await using host = await createTestHost({
    config: { channels: { telegram: { botToken: telegram.token, apiRoot: telegram.apiRoot } } },
    plugins: [
      fileURLToPath(new URL("../../plugins/telegram", import.meta.url)),
      { id: "device-pair", register: (api: OpenClawPluginApi) => void (channels = api.runtime.channel) },
    ],
    clock: "system",
  });
  await host.ready();
  const sent = await channels!.telegram.sendMessageTelegram(String(id), "Pair with **123456**");
  expect(telegram.messages(id).at(-1)).toMatchObject({ id: Number(sent.messageId), text: "Pair with 123456" });
  await expect(channels!.telegram.sendMessageTelegram("999999", "nobody")).rejects.toMatchObject({
    code: "UNAVAILABLE",
    message: expect.stringContaining("chat not found") as string,
  });
});
