/** A delivery on a real store, with a channel that does what a test tells it. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { manualClock, type ManualClock } from "../../base/clock.ts";
import { createIds } from "../../base/ids.ts";
import { silentLogger } from "../../base/log/logger.ts";
import { seededRandom } from "../../base/random.ts";
import { createHooks, type Hooks } from "../../hooks/index.ts";
import type { ChannelOutboundAdapter, ChannelOutboundContext, ChannelPlugin, HostConfig } from "../../protocol/index.ts";
import { openStore, type OutboxRow, type Store } from "../../store/index.ts";
import type { ReplyAddress } from "../address.ts";
import { createDelivery } from "./create-delivery.ts";
import type { Delivery, DeliveryDeps } from "./delivery.ts";

export const ADDRESS: ReplyAddress = { channel: "chat", accountId: "default", to: "42", chatType: "direct" };

/** How a fake platform takes a message: it answers, fails, or does what the function does. */
export type Reaction = "ok" | Error | ((context: ChannelOutboundContext) => unknown);

export interface FakeChannel {
  readonly plugin: ChannelPlugin;
  /** Everything that was handed to it, in order. */
  readonly sent: ChannelOutboundContext[];
  /** Calls that have not ended. */
  readonly underWay: number;
}

/** A channel whose reactions are taken one after the other; afterwards everything is taken. */
export function fakeChannel(
  reactions: readonly Reaction[] = [],
  outbound: Partial<ChannelOutboundAdapter> = {},
  over: Partial<ChannelPlugin> = {},
): FakeChannel {
  const sent: ChannelOutboundContext[] = [];
  const left = [...reactions];
  let underWay = 0;
  async function take(context: ChannelOutboundContext) {
    sent.push(context);
    const reaction = left.shift() ?? "ok";
    underWay += 1;
    try {
      if (reaction instanceof Error) throw reaction;
      const late = Promise.withResolvers<void>();
      context.signal?.addEventListener("abort", () => late.resolve());
      if (typeof reaction === "function") await Promise.race([reaction(context), late.promise]);
      return { channel: "chat", messageId: `m${sent.length}`, chatId: context.to };
    } finally {
      underWay -= 1;
    }
  }
  const plugin = {
    id: "chat",
    meta: { id: "chat", label: "Chat", selectionLabel: "Chat", docsPath: "", blurb: "" },
    capabilities: { chatTypes: ["direct"] },
    config: { listAccountIds: () => ["default"], resolveAccount: () => ({}) },
    outbound: { deliveryMode: "direct", chunkerMode: "markdown", sendText: take, sendMedia: take, ...outbound },
    ...over,
  } as ChannelPlugin;
  return {
    plugin,
    sent,
    get underWay() {
      return underWay;
    },
  };
}

export interface World extends AsyncDisposable {
  readonly clock: ManualClock;
  readonly hooks: Hooks;
  readonly store: Store;
  readonly delivery: Delivery;
  readonly config: { current: HostConfig };
  readonly channels: Map<string, FakeChannel>;
  readonly ended: OutboxRow[];
  /** Another process on the same folder; the old one is gone without a word. */
  restart(): Promise<void>;
  /** Lets time pass until `done` says so. */
  drain(done: () => boolean): Promise<void>;
  /** Lets time pass until a promise has settled. */
  settle<T>(promise: Promise<T>): Promise<T>;
  /** One round trip to the store and back. */
  turn(): Promise<void>;
  /** Of one target, oldest first. */
  rows(target?: string): Promise<readonly OutboxRow[]>;
}

export async function openWorld(channel: FakeChannel, over: Partial<DeliveryDeps> = {}): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), "delivery-"));
  const clock = manualClock();
  const channels = new Map([["chat", channel]]);
  const config: { current: HostConfig } = { current: {} };
  const ended: OutboxRow[] = [];
  const hooks = createHooks({ clock, log: silentLogger });
  const random = seededRandom(7);
  let store = await openStore({ stateDir: folder, clock });
  function create(): Delivery {
    const table = { get: (id: string) => channels.get(id)?.plugin };
    const made = createDelivery({ store, clock, random, ids: createIds(random), log: silentLogger, config: () => config.current, table, hooks, ...over });
    made.onSettled((row) => ended.push(row));
    return made;
  }
  let delivery = create();
  const world: World = {
    clock,
    hooks,
    config,
    channels,
    ended,
    get store() {
      return store;
    },
    get delivery() {
      return delivery;
    },
    async restart() {
      await store[Symbol.asyncDispose]();
      store = await openStore({ stateDir: folder, clock });
      delivery = create();
    },
    async turn() {
      await store.read("outbox.counts", {});
      await new Promise((resolve) => setImmediate(resolve));
    },
    async settle(promise) {
      let over = false;
      promise.finally(() => (over = true)).catch(() => undefined);
      await world.drain(() => over);
      return promise;
    },
    async drain(done) {
      for (let rounds = 0; rounds < 5000; rounds += 1) {
        await world.turn();
        if (done()) return;
        if ([...channels.values()].every(({ underWay }) => underWay === 0)) clock.advance(250);
      }
      throw new Error("it never came to an end");
    },
    async rows(target = ADDRESS.to) {
      return (await store.read("outbox.recent", { limit: 1000 })).filter((row) => row.target === target).toReversed();
    },
    async [Symbol.asyncDispose]() {
      await store[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  return world;
}

/** An error with fields, as platforms' libraries throw them. */
export function failing(message: string, fields: object = {}): Error {
  return Object.assign(new Error(message), fields);
}
