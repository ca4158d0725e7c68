import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTelegramPlugin, type TelegramChannel } from "../../plugins/telegram/channel.ts";
import { mediaKeeper } from "../../src/conversation/keep-media.ts";
import { systemClock, type Clock } from "../../src/base/clock.ts";
import { createIds } from "../../src/base/ids.ts";
import { silentLogger } from "../../src/base/log/logger.ts";
import { seededRandom, systemRandom } from "../../src/base/random.ts";
import { createChannels, type Channels } from "../../src/channels/index.ts";
import type { Config, OpenClawConfig } from "../../src/config/index.ts";
import type { ChannelInboundEvent, ChannelPlugin } from "../../src/protocol/index.ts";
import { openStore, type InboxRow, type OutboxRow, type Store } from "../../src/store/index.ts";
import type { FakeTelegram } from "../fakes/telegram/index.ts";
import type { Seen } from "../fakes/telegram/screen.ts";
import { echoAgents } from "../harness/echo-agents.ts";
import { openTalk, type Talk, type TalkOptions } from "../harness/talk.ts";

/** Time that passes faster than it does, and can be set. */
export interface FastClock extends Clock {
  /** The wall clock goes on from another time; timers do not notice. */
  jump(ms: number): void;
}

export function fastClock(factor: number): FastClock {
  let offset = 0;
  const start = systemClock.now();
  const begun = systemClock.monotonic();
  const passed = (): number => (systemClock.monotonic() - begun) * factor;
  return {
    now: () => Math.round(start + passed() + offset),
    monotonic: passed,
    after: (ms, fn) => systemClock.after(ms / factor, fn),
    jump: (ms) => void (offset += ms),
  };
}

export interface ChannelPlaceOptions {
  /** `channels.telegram`, beside the token. */
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly config?: OpenClawConfig;
  readonly clock?: FastClock;
  /** What the model says to what it hears. Default: the same. */
  readonly says?: (heard: string) => string;
  readonly agents?: TalkOptions["agents"];
  /** A state that was there before, and is left. */
  readonly folder?: string;
  readonly graceMs?: number;
  /** Looks at events before the conversations do. */
  readonly offered?: (event: ChannelInboundEvent) => void;
}

/** The whole way, in this process: a Bot API server, the Telegram plugin, the channels, conversations over a real store, and back. */
export interface ChannelPlace extends Talk {
  readonly store: Store;
  readonly folder: string;
  readonly channels: Channels;
  readonly clock: FastClock;
  inbox(): Promise<readonly InboxRow[]>;
  outbox(): Promise<readonly OutboxRow[]>;
  /** Resolves when the account is connected. */
  up(): Promise<void>;
  /** Resolves when nothing is to be fetched, answered or sent. */
  quiet(): Promise<void>;
}

const OPEN = { dmPolicy: "open", allowFrom: ["*"], groupPolicy: "open", groups: { "*": { requireMention: true } }, streamMode: "off" };
/** Longer than any test: an attempt that ends by itself would be sent again. */
const LIMITS = { attemptMs: 86_400_000 };

function telegramPlugin(telegram: FakeTelegram, clock: Clock): TelegramChannel {
  const random = seededRandom(3);
  return createTelegramPlugin({
    apiRoot: telegram.apiRoot,
    pollSeconds: 5,
    waiting: {
      now: () => clock.now(),
      random: () => random.float(),
      sleep(ms, signal) {
        const { promise, resolve } = Promise.withResolvers<void>();
        const timer = clock.after(ms, resolve);
        signal.addEventListener("abort", () => resolve(), { once: true });
        return promise.finally(() => timer[Symbol.dispose]());
      },
    },
  });
}

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));

export async function openChannelPlace(telegram: FakeTelegram, options: ChannelPlaceOptions = {}): Promise<ChannelPlace> {
  const { clock = fastClock(20), says } = options;
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), "channel-faults-"));
  const store = await openStore({ stateDir: folder, clock });
  const ids = createIds(systemRandom);
  const config = {
    messages: { queue: { debounceMs: 0 } },
    session: { dmScope: "per-channel-peer" },
    ...options.config,
    channels: { telegram: { botToken: telegram.token, ...OPEN, ...options.settings } },
  } as OpenClawConfig;
  const plugin = telegramPlugin(telegram, clock);
  const table = {
    get: (id: string) => (id === "telegram" ? (plugin as unknown as ChannelPlugin) : undefined),
    list: () => [plugin as unknown as ChannelPlugin],
  };
  const shared = { store, clock, ids, folder, ...(says ? { says } : {}) };
  const keepMedia = mediaKeeper({ config: { current: config, paths: { state: folder } } as unknown as Config, ids, channels: table });
  const talk = await openTalk({
    store,
    clock,
    ids,
    config,
    keepMedia,
    limits: LIMITS,
    agents: options.agents ?? echoAgents(shared),
    channels: table.list(),
    running: (channel, accountId) => channels.canSend(channel, accountId),
    receiving: (channel, accountId) => channels.isReceiving(channel, accountId),
    ...(options.graceMs === undefined ? {} : { graceMs: options.graceMs }),
  });
  const channels: Channels = createChannels({
    config: () => config,
    table,
    inbound(channel, accountId) {
      const inner = talk.conversation.inbound(channel, accountId);
      return {
        async accept(event) {
          options.offered?.(event);
          return inner.accept(event);
        },
      };
    },
    clock,
    random: seededRandom(5),
    log: silentLogger,
    onChange: ({ state }) => void (state === "ok" && talk.delivery.kick()),
  });
  await talk.conversation.resume();
  talk.delivery.kick();
  await channels.start();
  return {
    ...talk,
    store,
    folder,
    channels,
    clock,
    inbox: () => store.read("inbox.recent", { limit: 1000 }),
    outbox: () => store.read("outbox.recent", { limit: 1000 }),
    async up() {
      while (!channels.accounts().some(({ snapshot }) => snapshot.connected === true)) await pause();
    },
    async quiet() {
      for (;;) {
        const [inbox, outbox] = await Promise.all([store.read("inbox.counts", {}), store.read("outbox.counts", {})]);
        const open = inbox.pending + inbox.claimed + outbox.pending + outbox.attempting + outbox.unknown;
        if (open + telegram.pending + talk.conversation.running() + talk.delivery.open() === 0) return;
        await pause();
      }
    },
    async [Symbol.asyncDispose]() {
      await channels[Symbol.asyncDispose]();
      await talk[Symbol.asyncDispose]();
      plugin[Symbol.dispose]();
      await store[Symbol.asyncDispose]();
      if (options.folder === undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** What the bot said in a chat, in order. */
export const saidBy = (telegram: FakeTelegram, chatId: number): readonly Seen[] => telegram.messages(chatId).filter(({ byBot }) => byBot);
