/** An account of the channel that runs against a Bot API server, for tests. */
import type { ChannelAccountSnapshot, ChannelGatewayContext } from "openclaw/plugin-sdk";
import type { Waiting } from "openclaw/plugin-sdk/channel-kit";
import { createTelegramPlugin, type TelegramChannel, type TelegramPluginOptions } from "./channel.ts";
import type { TelegramAccount } from "./account.ts";
import type { ChannelInboundEvent } from "./types.ts";

export interface RunningAccount extends AsyncDisposable {
  readonly channel: TelegramChannel;
  readonly events: ChannelInboundEvent[];
  readonly status: ChannelAccountSnapshot;
  readonly logs: string[];
  /** Delays that were waited for; none takes time. */
  readonly delays: number[];
  /** How it ended, once it has. */
  readonly ended: Promise<unknown>;
  /** Resolves with the first event, past or future, that fits. */
  event(fits: (event: ChannelInboundEvent) => boolean): Promise<ChannelInboundEvent>;
  /** Resolves when a status fits. */
  shows(fits: (status: ChannelAccountSnapshot) => boolean): Promise<void>;
  stop(): Promise<unknown>;
}

export interface RunOptions extends TelegramPluginOptions {
  readonly config?: Record<string, unknown>;
  readonly token: string;
  /** Default: accepted. */
  accept?(event: ChannelInboundEvent): Promise<{ readonly outcome: "refused"; readonly why: string } | void>;
}

/** Waits take one turn of the event loop. */
export function noWaiting(delays: number[]): Waiting {
  return {
    now: () => Date.now(),
    async sleep(ms, signal) {
      delays.push(ms);
      if (!signal.aborted) await new Promise((resolve) => void setImmediate(resolve));
    },
    random: () => 0.5,
  };
}

export function configOf(token: string, more: Record<string, unknown> = {}): { channels: { telegram: Record<string, unknown> } } {
  return { channels: { telegram: { botToken: token, ...more } } };
}

/** Starts the default account. */
export function runAccount({ config, token, accept, ...options }: RunOptions): RunningAccount {
  const delays: number[] = [];
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
  const channel = createTelegramPlugin({ waiting: noWaiting(delays), pollSeconds: 5, log: { info: log, warn: log }, ...options });
  const cfg = configOf(token, config);
  const abort = new AbortController();
  let status: ChannelAccountSnapshot = { accountId: "default" };
  const context: ChannelGatewayContext<TelegramAccount> = {
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
  const running = channel.gateway!.startAccount!(context);
  const ended = running.then(
    () => "stopped",
    (error: unknown) => error,
  );
  return {
    channel,
    events,
    get status() {
      return status;
    },
    logs,
    delays,
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
