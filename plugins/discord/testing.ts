/** An account of the channel that runs against a Discord of the test's own. */
import type { ChannelAccountSnapshot, ChannelGatewayContext } from "openclaw/plugin-sdk";
import { realWaiting, type Waiting } from "openclaw/plugin-sdk/channel-kit";
import type { DiscordAccount } from "./account.ts";
import { createDiscordPlugin, type DiscordChannel, type DiscordPluginOptions } from "./channel.ts";
import type { ChannelInboundEvent, ChannelInboundResult } from "./types.ts";

/** The plugin's state, for the processes of one test. */
export function memoryState(): { readonly values: Map<string, unknown>; readonly runtime: DiscordPluginOptions["runtime"] } {
  const values = new Map<string, unknown>();
  const openKeyedStore = ({ namespace }: { namespace: string }) => ({
    register: async (key: string, value: unknown) => void values.set(`${namespace}/${key}`, structuredClone(value)),
    registerIfAbsent: async () => false,
    lookup: async (key: string) => values.get(`${namespace}/${key}`),
    consume: async (key: string) => values.get(`${namespace}/${key}`),
    delete: async (key: string) => values.delete(`${namespace}/${key}`),
    entries: async () =>
      [...values].flatMap(([key, value]) => (key.startsWith(`${namespace}/`) ? [{ key: key.slice(namespace.length + 1), value, createdAt: 0 }] : [])),
    clear: async () => values.clear(),
  });
  return { values, runtime: { state: { openKeyedStore } } as unknown as DiscordPluginOptions["runtime"] };
}

/** Time passes, waits do not take any. */
export const impatient: Waiting = {
  ...realWaiting,
  sleep: (ms, signal) => realWaiting.sleep(Math.min(ms, 5), signal),
  random: () => 0.5,
};

export interface RunningAccount extends AsyncDisposable {
  readonly channel: DiscordChannel;
  readonly cfg: { channels: { discord: Record<string, unknown> } };
  readonly events: ChannelInboundEvent[];
  readonly status: ChannelAccountSnapshot;
  readonly logs: string[];
  readonly ended: Promise<unknown>;
  /** Resolves with the first event, past or future, that fits. */
  event(fits: (event: ChannelInboundEvent) => boolean): Promise<ChannelInboundEvent>;
  shows(fits: (status: ChannelAccountSnapshot) => boolean): Promise<void>;
  stop(): Promise<unknown>;
}

export interface RunOptions extends DiscordPluginOptions {
  readonly config?: Record<string, unknown>;
  readonly token: string;
  accept?(event: ChannelInboundEvent): Promise<ChannelInboundResult | void>;
}

/** Starts the default account. */
export function runAccount({ config, token, accept, ...options }: RunOptions): RunningAccount {
  const logs: string[] = [];
  const events: ChannelInboundEvent[] = [];
  const watchers = new Set<() => void>();
  const look = (): void => watchers.forEach((watcher) => watcher());
  const until = <T>(find: () => T | undefined): Promise<T> =>
    new Promise((resolve) => {
      const watcher = (): void => {
        const found = find();
        if (found === undefined) return;
        watchers.delete(watcher);
        resolve(found);
      };
      watchers.add(watcher);
      watcher();
    });
  const log = (message: string): void => void logs.push(message);
  const channel = createDiscordPlugin(options);
  const cfg = { channels: { discord: { token, ...config } } };
  const abort = new AbortController();
  let status: ChannelAccountSnapshot = { accountId: "default" };
  const context: ChannelGatewayContext<DiscordAccount> = {
    cfg,
    accountId: "default",
    account: channel.config.resolveAccount(cfg, "default"),
    runtime: { log: () => {}, error: () => {}, exit: () => {} },
    abortSignal: abort.signal,
    log: { info: log, warn: log, error: log, debug: log },
    getStatus: () => status,
    setStatus(next) {
      status = { ...status, ...next };
      look();
    },
    inbound: {
      async accept(event) {
        const result = await accept?.(event);
        events.push(event);
        look();
        return result ?? { outcome: "accepted", duplicate: false };
      },
    },
  };
  const ended = channel.gateway!.startAccount!(context).then(
    () => "stopped",
    (error: unknown) => error,
  );
  return {
    channel,
    cfg,
    events,
    get status() {
      return status;
    },
    logs,
    ended,
    event: (fits) => until(() => events.find(fits)),
    shows: (fits) => until(() => (fits(status) ? true : undefined)).then(() => {}),
    stop() {
      abort.abort();
      return ended;
    },
    async [Symbol.asyncDispose]() {
      abort.abort();
      await ended;
      channel[Symbol.dispose]();
    },
  };
}
