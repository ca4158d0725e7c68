/** An account of the channel that runs against a server, for tests. */
import type { ChannelAccountSnapshot, ChannelGatewayContext, ChannelInboundEvent } from "openclaw/plugin-sdk";
import type { Waiting } from "openclaw/plugin-sdk/channel-kit";
import type { IrcAccount } from "./account.ts";
import { createIrcPlugin, type IrcChannel, type IrcPluginOptions } from "./channel.ts";
import { TIMES } from "./connection/session.ts";

export interface RunningAccount extends AsyncDisposable {
  readonly channel: IrcChannel;
  readonly events: ChannelInboundEvent[];
  readonly status: ChannelAccountSnapshot;
  readonly logs: string[];
  /** Delays that were asked for; those between attempts take no time. */
  readonly delays: number[];
  /** How it ended, once it has. */
  readonly ended: Promise<unknown>;
  /** Resolves with the first event, past or future, that fits. */
  event(fits: (event: ChannelInboundEvent) => boolean): Promise<ChannelInboundEvent>;
  /** Resolves when a status fits. */
  shows(fits: (status: ChannelAccountSnapshot) => boolean): Promise<void>;
  /** In all channels of the configuration. */
  isIn(...channels: string[]): Promise<void>;
  send(to: string, text: string): Promise<unknown>;
  stop(): Promise<unknown>;
}

export interface RunOptions extends IrcPluginOptions {
  readonly config: Record<string, unknown>;
  accept?(event: ChannelInboundEvent): Promise<void>;
}

/** Waits of this length and more stay: they are time-outs, not pauses. */
const SHORTEST_TIMEOUT_MS = 60_000;

/** Pauses take one turn of the event loop. */
function noWaiting(delays: number[]): Waiting {
  return {
    now: () => Date.now(),
    sleep(ms, signal) {
      delays.push(ms);
      return new Promise((resolve) => {
        if (signal.aborted) return resolve();
        if (ms < SHORTEST_TIMEOUT_MS) return void setImmediate(resolve);
        signal.addEventListener("abort", () => resolve(), { once: true });
      });
    },
    // Below the middle, so that the longest pause is no time-out.
    random: () => 0.4,
  };
}

/** Starts the default account. */
export function runAccount({ config, accept, ...options }: RunOptions): RunningAccount {
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
  const channel = createIrcPlugin({ waiting: noWaiting(delays), times: { ...TIMES, connectMs: 5000, registerMs: 5000 }, ...options });
  const cfg = { channels: { irc: config } };
  const abort = new AbortController();
  let status: ChannelAccountSnapshot = { accountId: "default" };
  const context: ChannelGatewayContext<IrcAccount> = {
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
        await accept?.(event);
        events.push(event);
        look();
        return { outcome: "accepted", duplicate: false };
      },
    },
  };
  const ended = channel.gateway!.startAccount!(context).then(
    () => "stopped",
    (error: unknown) => error,
  );
  const shows = (fits: (status: ChannelAccountSnapshot) => boolean): Promise<void> => until(() => (fits(status) ? true : undefined)).then(() => {});
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
    shows,
    isIn: (...channels) =>
      shows(({ application }) => {
        const states = (application as { channels?: { name: string; joined: boolean }[] } | undefined)?.channels ?? [];
        return channels.every((name) => states.some((state) => state.name === name && state.joined));
      }),
    send: async (to, text) => channel.outbound!.sendText!({ cfg, to, text, accountId: "default" }),
    stop() {
      abort.abort();
      return ended;
    },
    async [Symbol.asyncDispose]() {
      abort.abort();
      await ended;
    },
  };
}
