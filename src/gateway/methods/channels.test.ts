import { beforeAll, expect, test } from "vitest";
import { manualClock } from "../../base/clock.ts";
import { silentLogger } from "../../base/log/logger.ts";
import { createChannels, type Channels } from "../../channels/index.ts";
import { loadAnswerChecks, type AnswerChecks, type ChannelPlugin, type MethodName } from "../../protocol/index.ts";
import { channelsHandlers } from "./channels.ts";
import type { CallContext, Handlers } from "./handler.ts";
import { channelLines, channelsHealth } from "./system/channels.ts";

const plugin: ChannelPlugin<{ readonly enabled: boolean }> = {
  id: "paper",
  meta: { id: "paper", label: "Paper", selectionLabel: "Paper", docsPath: "/channels/paper", blurb: "", systemImage: "paperplane" },
  capabilities: { chatTypes: ["direct"] },
  config: {
    listAccountIds: () => ["home", "work"],
    resolveAccount: (_cfg, id) => ({ enabled: id !== "work" }),
    describeAccount: () => ({ accountId: "x", name: "Ada", dmPolicy: "pairing", allowFrom: ["7"] }),
  },
  status: { probeAccount: async () => ({ ok: true, bot: { id: 7 } }) },
  gateway: {
    startAccount: ({ abortSignal }) => new Promise((resolve) => abortSignal.addEventListener("abort", resolve)),
    logoutAccount: async () => ({ cleared: true }),
    loginWithQrStart: async ({ accountId, phoneNumber }) =>
      phoneNumber === undefined ? { message: `scan for ${accountId}` } : { message: `type it on ${phoneNumber}`, code: "ABCD1234" },
    loginWithQrWait: async () => ({ connected: true, message: "linked" }),
  },
};

function open(plugins: readonly ChannelPlugin[] = [plugin]): Channels {
  return createChannels({
    config: () => ({ channels: { paper: {} } }),
    table: { get: (id) => plugins.find((one) => one.id === id), list: () => plugins },
    inbound: () => ({ accept: async () => ({ outcome: "noted" }) }),
    clock: manualClock(),
    random: { float: () => 0.5 },
    log: silentLogger,
  });
}

let checks: AnswerChecks;
beforeAll(async () => void (checks = await loadAnswerChecks()));

async function ask(channels: Channels, method: MethodName, params: object): Promise<unknown> {
  const handlers: Handlers = channelsHandlers(channels);
  const handler = handlers[method] as (params: object, context: CallContext) => Promise<unknown>;
  const answer: unknown = JSON.parse(JSON.stringify(await handler(params, {} as CallContext)));
  expect([method, checks.result(method, answer)]).toEqual([method, undefined]);
  return answer;
}

test("every answer fits what is declared", async () => {
  await using channels = open();
  await channels.start();
  expect(await ask(channels, "channels.status", {})).toMatchObject({
    channelOrder: ["paper"],
    channelSystemImages: { paper: "paperplane" },
    channelAccounts: {
      paper: [
        { accountId: "home", name: "Ada", running: true, allowFrom: ["7"] },
        { accountId: "work", enabled: false },
      ],
    },
  });
  expect(await ask(channels, "channels.status", { probe: true, timeoutMs: 2000 })).toMatchObject({
    channelAccounts: { paper: [{ probe: { ok: true, bot: { id: 7 } } }, { accountId: "work" }] },
  });
  expect(await ask(channels, "channels.logout", { channel: "paper", accountId: "home" })).toEqual({ channel: "paper", accountId: "home", cleared: true });
  expect(await ask(channels, "web.login.start", { accountId: "work", force: true })).toEqual({ message: "scan for work" });
  expect(await ask(channels, "web.login.start", { accountId: "work", phoneNumber: "+15551234567" })).toEqual({
    message: "type it on +15551234567",
    code: "ABCD1234",
  });
  expect(await ask(channels, "web.login.wait", { accountId: "work" })).toEqual({ connected: true, message: "linked" });
});

test("without channels health and status have none", async () => {
  expect(await channelsHealth(undefined)).toEqual({ channels: {}, channelOrder: [], channelLabels: {} });
  expect(await channelLines(undefined)).toEqual([]);
  expect(await channelLines(open([]))).toEqual([]);
});

test("health and status say how each account is", async () => {
  await using channels = open();
  await channels.start();
  expect(await channelsHealth(channels)).toMatchObject({
    channels: { paper: { configured: true, accounts: { home: { running: true, health: { state: "starting" } }, work: { enabled: false } } } },
    channelLabels: { paper: "Paper" },
  });
  expect(await channelLines(channels)).toEqual(["Paper: home starting, work disabled"]);
});
