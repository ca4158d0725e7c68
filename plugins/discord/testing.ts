/** An account of the channel that runs against a Discord of the test's own. */
import { realWaiting, type Waiting } from "openclaw/plugin-sdk/channel-kit";
import { runChannelAccount, type RunningAccount, type RunningAccountOptions } from "openclaw/plugin-sdk/testing";
import { createDiscordPlugin, type DiscordChannel, type DiscordPluginOptions } from "./channel.ts";

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

export interface DiscordRun extends RunningAccount {
  readonly channel: DiscordChannel;
  readonly cfg: { channels: { discord: Record<string, unknown> } };
}

export interface RunOptions extends DiscordPluginOptions, Pick<RunningAccountOptions, "accept"> {
  readonly config?: Record<string, unknown>;
  readonly token: string;
}

/** Starts the default account. */
export function runAccount({ config, token, accept, ...options }: RunOptions): DiscordRun {
  const channel = createDiscordPlugin(options);
  const cfg = { channels: { discord: { token, ...config } } };
  const run = runChannelAccount(channel, { cfg, ...(accept ? { accept } : {}) });
  return {
    channel,
    cfg,
    events: run.events,
    logs: run.logs,
    ended: run.ended,
    get status() {
      return run.status;
    },
    event: run.event,
    shows: run.shows,
    stop: run.stop,
    async [Symbol.asyncDispose]() {
      await run.stop();
      channel[Symbol.dispose]();
    },
  };
}
