/** Fake channels: plain objects, with the test as the platform. */
import { manualClock, type ManualClock } from "../../base/clock.ts";
import { createLogger, type LogRecord } from "../../base/log/logger.ts";
import { createRedactor } from "../../base/redaction.ts";
import type { ChannelGatewayContext, ChannelInboundEvent, ChannelPlugin, HostConfig } from "../../protocol/index.ts";
import type { AccountHealth, Channels, ChannelsDeps } from "./types.ts";
import { createChannels } from "./channels.ts";

/** One call of `startAccount`, controlled by the test. */
export interface FakeRun {
  readonly ctx: ChannelGatewayContext<FakeAccount>;
  readonly settled: boolean;
  resolve(value?: unknown): void;
  reject(error: unknown): void;
}

export interface FakeAccount {
  readonly accountId: string;
  readonly enabled: boolean;
  readonly token: string;
}

export interface FakeChannel {
  readonly plugin: ChannelPlugin<FakeAccount>;
  readonly runs: FakeRun[];
  /** Runs that have not settled. */
  readonly open: () => number;
}

interface Section {
  readonly enabled?: boolean;
  readonly token?: string;
  readonly accounts?: Readonly<Record<string, { readonly enabled?: boolean; readonly token?: string }>>;
}

export interface FakeOptions {
  readonly id?: string;
  /** Settles when it is asked to stop. Default true. */
  readonly stops?: boolean;
  readonly more?: Partial<ChannelPlugin<FakeAccount>>;
  readonly gateway?: Partial<NonNullable<ChannelPlugin<FakeAccount>["gateway"]>>;
}

export function fakeChannel({ id = "fake", stops = true, more = {}, gateway = {} }: FakeOptions = {}): FakeChannel {
  const runs: FakeRun[] = [];
  const sectionOf = (cfg: HostConfig): Section => cfg.channels?.[id] ?? {};
  const plugin: ChannelPlugin<FakeAccount> = {
    id,
    meta: { id, label: id.toUpperCase(), selectionLabel: id, docsPath: `/channels/${id}`, blurb: "for tests" },
    capabilities: { chatTypes: ["direct"] },
    config: {
      listAccountIds: (cfg) => (cfg.channels?.[id] ? Object.keys(sectionOf(cfg).accounts ?? { default: {} }) : []),
      resolveAccount(cfg, accountId) {
        const section = { ...sectionOf(cfg), ...sectionOf(cfg).accounts?.[accountId ?? "default"] };
        return { accountId: accountId ?? "default", enabled: section.enabled !== false, token: section.token ?? "" };
      },
      isConfigured: ({ token }) => token !== "",
    },
    gateway: {
      startAccount(ctx) {
        const { promise, resolve, reject } = Promise.withResolvers<unknown>();
        const run = { ctx, settled: false, resolve, reject };
        runs.push(run);
        if (stops) ctx.abortSignal.addEventListener("abort", () => resolve(undefined));
        return promise.finally(() => void (run.settled = true));
      },
      ...gateway,
    },
    ...more,
  };
  return { plugin, runs, open: () => runs.filter(({ settled }) => !settled).length };
}

export interface FakeManager {
  readonly channels: Channels;
  readonly clock: ManualClock;
  readonly lines: LogRecord[];
  readonly accepted: { readonly channel: string; readonly accountId: string; readonly id: string }[];
  readonly changes: AccountHealth[];
  readonly plugins: ChannelPlugin[];
  configure(config: HostConfig): void;
  health(): string[];
}

export const CONFIGURED: HostConfig = { channels: { fake: { token: "t" } } };

export function fakeManager(plugins: readonly ChannelPlugin[], config: HostConfig = CONFIGURED, more: Partial<ChannelsDeps> = {}): FakeManager {
  const clock = manualClock();
  const lines: LogRecord[] = [];
  const accepted: FakeManager["accepted"] = [];
  const changes: AccountHealth[] = [];
  const table = [...plugins];
  let current = config;
  const sink = { write: (record: LogRecord) => void lines.push(record), flush: () => Promise.resolve() };
  const channels = createChannels({
    config: () => current,
    table: { get: (id) => table.find((plugin) => plugin.id === id), list: () => [...table] },
    inbound: (channel, accountId) => ({
      async accept(event) {
        accepted.push({ channel, accountId, id: event.id });
        return { outcome: "accepted", duplicate: false };
      },
    }),
    clock,
    random: { float: () => 0.5 },
    log: createLogger({ clock, redactor: createRedactor(), outputs: [{ sink, level: "trace" }] }),
    onChange: (health) => void changes.push(health),
    ...more,
  });
  return {
    channels,
    clock,
    lines,
    accepted,
    changes,
    plugins: table,
    configure: (next) => void (current = next),
    health: () => channels.health().map(({ channel, accountId, state, why }) => `${channel}:${accountId} ${state}${why === "" ? "" : `: ${why}`}`),
  };
}

export const message = (id: string): ChannelInboundEvent => ({
  kind: "message",
  id,
  chat: { type: "direct", id: "7" },
  sender: { id: "7" },
  text: "hello",
  to: "7",
});

/** Lets pending promises settle. */
export const quiet = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
