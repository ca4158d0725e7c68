/** An account of the channel that runs against a fake Slack, for tests. */
import type { ChannelAccountSnapshot, ChannelGatewayContext } from "openclaw/plugin-sdk";
import type { Waiting } from "openclaw/plugin-sdk/channel-kit";
import { type FakeSlack, startSlack, type User } from "../../test/fakes/slack/index.ts";
import type { SlackAccount } from "./account.ts";
import { createSlackPlugin, type SlackChannel, type SlackPluginOptions } from "./channel.ts";
import type { ChannelInboundEvent, HostConfig } from "./types.ts";

export interface SlackLab extends AsyncDisposable {
  readonly slack: FakeSlack;
  readonly channel: SlackChannel;
  readonly cfg: HostConfig;
  readonly ada: User;
  /** A channel with both of them in it. */
  readonly chatId: string;
  readonly events: ChannelInboundEvent[];
  readonly status: ChannelAccountSnapshot;
  readonly logs: string[];
  readonly ended: Promise<unknown>;
  /** Starts the account. */
  start(accept?: (event: ChannelInboundEvent) => Promise<ChannelInboundResult | void>): Promise<void>;
  event(fits: (event: ChannelInboundEvent) => boolean): Promise<ChannelInboundEvent>;
  /** Polls until it is so. */
  until(isSo: () => boolean): Promise<void>;
  stop(): Promise<unknown>;
}

export interface LabOptions extends SlackPluginOptions {
  readonly config?: Record<string, unknown>;
  /** What the process before this one left. */
  readonly stored?: Map<string, unknown>;
}

/** Waits take one turn of the event loop. */
const noWaiting: Waiting = {
  now: () => Date.now(),
  async sleep(_ms, signal) {
    if (!signal.aborted) await new Promise((resolve) => void setImmediate(resolve));
  },
  random: () => 0.5,
};

function memoryRuntime(stored: Map<string, unknown>, changes: ((draft: object) => void)[]): NonNullable<SlackPluginOptions["runtime"]> {
  const openKeyedStore = ({ namespace }: { namespace: string }) => ({
    lookup: async (key: string) => stored.get(`${namespace}/${key}`),
    register: async (key: string, value: unknown) => void stored.set(`${namespace}/${key}`, value),
  });
  const config = { mutateConfigFile: async ({ mutate }: { mutate: (draft: object) => void }) => void changes.push(mutate) };
  return { state: { openKeyedStore }, config } as unknown as NonNullable<SlackPluginOptions["runtime"]>;
}

type ChannelInboundResult = Awaited<ReturnType<NonNullable<ChannelGatewayContext["inbound"]>["accept"]>>;

/** An inbox that takes everything `accept` lets pass; what it answers counts. */
function storing(events: ChannelInboundEvent[], accept: Parameters<SlackLab["start"]>[0]): ChannelGatewayContext["inbound"] {
  return {
    async accept(event) {
      const result = await accept?.(event);
      events.push(event);
      return result ?? { outcome: "accepted", duplicate: false };
    },
  };
}

export async function startLab({ config = {}, stored = new Map(), ...options }: LabOptions = {}): Promise<
  SlackLab & { readonly changes: ((draft: object) => void)[] }
> {
  const slack = await startSlack({ ackMs: 300 });
  const { world } = slack;
  const ada = world.person("ada", "Ada");
  const chatId = world.conversation("channel", "general", [ada.id, world.bot.id]).id;
  const changes: ((draft: object) => void)[] = [];
  const logs: string[] = [];
  const log = (message: string): void => void logs.push(message);
  const channel = createSlackPlugin({
    apiRoot: slack.apiRoot,
    waiting: noWaiting,
    runtime: memoryRuntime(stored, changes),
    log: { info: log, warn: log },
    ...options,
  });
  const cfg = { channels: { slack: { botToken: slack.botToken, appToken: slack.appToken, channels: { [chatId]: {} }, ...config } } } as HostConfig;
  const events: ChannelInboundEvent[] = [];
  const abort = new AbortController();
  let status: ChannelAccountSnapshot = { accountId: "default" };
  let ended: Promise<unknown> = Promise.resolve();

  async function until(isSo: () => boolean): Promise<void> {
    for (const before = Date.now(); !isSo(); await new Promise((resolve) => void setTimeout(resolve, 5))) {
      if (Date.now() - before > 10_000) throw new Error(`it did not come: ${JSON.stringify({ status, logs, calls: slack.calls() }, null, 1)}`);
    }
  }

  return {
    slack,
    channel,
    cfg,
    ada,
    chatId,
    events,
    changes,
    get status() {
      return status;
    },
    logs,
    get ended() {
      return ended;
    },
    async start(accept) {
      const context: ChannelGatewayContext<SlackAccount> = {
        cfg,
        accountId: "default",
        account: channel.config.resolveAccount(cfg, "default"),
        runtime: { log: () => {}, error: () => {}, exit: () => {} },
        abortSignal: abort.signal,
        log: { info: log, warn: log, error: log, debug: log },
        getStatus: () => status,
        setStatus: (next) => void (status = { ...status, ...next }),
        inbound: storing(events, accept),
      };
      ended = channel.gateway!.startAccount!(context).then(
        () => "stopped",
        (error: unknown) => error,
      );
      let isOver = false;
      void ended.then(() => (isOver = true));
      await until(() => status.connected === true || isOver);
    },
    async event(fits) {
      await until(() => events.some(fits));
      return events.find(fits)!;
    },
    until,
    stop() {
      abort.abort();
      return ended;
    },
    async [Symbol.asyncDispose]() {
      abort.abort();
      await ended;
      channel[Symbol.dispose]();
      await slack[Symbol.asyncDispose]();
    },
  };
}
