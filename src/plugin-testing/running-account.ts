/** An account of a channel that runs without a gateway: what it brings is collected, and its waiting takes no time. */
import type { ChannelAccountSnapshot, ChannelInboundEvent, ChannelInboundResult, ChannelPlugin, HostConfig } from "../protocol/index.ts";

export interface RunningAccount extends AsyncDisposable {
  readonly events: readonly ChannelInboundEvent[];
  readonly status: ChannelAccountSnapshot;
  readonly logs: readonly string[];
  /** With what it ended, once it has; undefined: as it should. */
  readonly ended: Promise<unknown>;
  /** Resolves with the first event, past or future, that fits. */
  event(fits: (event: ChannelInboundEvent) => boolean): Promise<ChannelInboundEvent>;
  /** Resolves when a status fits. */
  shows(fits: (status: ChannelAccountSnapshot) => boolean): Promise<void>;
  stop(): Promise<unknown>;
}

export interface RunningAccountOptions {
  readonly cfg: HostConfig;
  readonly accountId?: string;
  /** What the host says to an event; it may throw. Default: accepted. */
  accept?(event: ChannelInboundEvent): ChannelInboundResult | void | Promise<ChannelInboundResult | void>;
}

export function runChannelAccount(channel: ChannelPlugin, { cfg, accountId = "default", accept }: RunningAccountOptions): RunningAccount {
  const events: ChannelInboundEvent[] = [];
  const logs: string[] = [];
  const abort = new AbortController();
  const watchers = new Set<() => void>();
  let status: ChannelAccountSnapshot = { accountId };
  const look = (): void => {
    for (const watcher of watchers) watcher();
  };
  function until<T>(find: () => T | undefined): Promise<T> {
    const { promise, resolve } = Promise.withResolvers<T>();
    const watcher = (): void => {
      const found = find();
      if (found === undefined) return;
      watchers.delete(watcher);
      resolve(found);
    };
    watchers.add(watcher);
    watcher();
    return promise;
  }
  const log = (message: string): void => void logs.push(message);
  const running = channel.gateway!.startAccount!({
    cfg,
    accountId,
    account: channel.config.resolveAccount(cfg, accountId),
    runtime: { log, error: log, exit: (code) => log(`exit ${code}`) },
    abortSignal: abort.signal,
    log: { info: log, warn: log, error: log, debug: log },
    getStatus: () => status,
    setStatus(next) {
      status = { ...status, ...next };
      look();
    },
    inbound: {
      async accept(event) {
        const result = (await accept?.(event)) ?? ({ outcome: "accepted", duplicate: false } as const);
        events.push(event);
        look();
        return result;
      },
    },
  });
  const ended = running.then(
    () => undefined,
    (error: unknown) => error,
  );
  async function stop(): Promise<unknown> {
    abort.abort();
    return ended;
  }
  return {
    events,
    logs,
    ended,
    stop,
    get status() {
      return status;
    },
    event: (fits) => until(() => events.find(fits)),
    shows: (fits) => until(() => (fits(status) ? true : undefined)).then(() => undefined),
    async [Symbol.asyncDispose]() {
      await stop();
    },
  };
}
