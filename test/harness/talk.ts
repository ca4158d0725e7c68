import type { Agents, TurnHooks } from "../../src/agent/index.ts";
import type { Clock } from "../../src/base/clock.ts";
import type { Ids } from "../../src/base/ids.ts";
import { silentLogger, type Logger } from "../../src/base/log/logger.ts";
import { seededRandom } from "../../src/base/random.ts";
import { createAllowLists, createPairing, isControlCommandMessage, type AllowLists, type Pairing } from "../../src/channels/index.ts";
import type { OpenClawConfig } from "../../src/config/index.ts";
import {
  createConversation,
  loadDelivery,
  type Commands,
  type Conversation,
  type Delivery,
  type DeliveryDeps,
  type KeepMedia,
  type AnswerSpeech,
  type Transcribe,
} from "../../src/conversation/index.ts";
import type { ChannelPlugin } from "../../src/protocol/index.ts";
import { createRouting } from "../../src/routing/index.ts";
import type { Store } from "../../src/store/index.ts";
import type { Understanding } from "../../src/understanding/index.ts";

export interface TalkOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly agents: () => Promise<Pick<Agents, "turn" | "after">>;
  readonly config?: OpenClawConfig;
  readonly channels?: readonly ChannelPlugin[];
  readonly hooks?: TurnHooks;
  readonly commands?: Commands;
  readonly graceMs?: number;
  readonly log?: Logger;
  readonly limits?: DeliveryDeps["limits"];
  readonly keepMedia?: KeepMedia;
  readonly transcribe?: Transcribe;
  readonly understand?: Understanding["understand"];
  readonly speech?: AnswerSpeech;
  /** Whether an account can send at the moment. */
  readonly running?: (channel: string, accountId: string) => boolean;
  /** Whether an account receives at the moment. */
  readonly receiving?: (channel: string, accountId: string) => boolean;
}

export interface Talk extends AsyncDisposable {
  readonly conversation: Conversation;
  readonly delivery: Delivery;
  readonly pairing: Pairing;
  readonly allowLists: AllowLists;
}

/** Reads no command: every message is for the agent. */
export const noCommands: Commands = {
  isControl: (text) => isControlCommandMessage(text),
  run: async ({ ctx }) => ({ kind: "turn", text: ctx.BodyForCommands ?? "", asides: [], notes: [] }),
  native: async () => [],
  list: async () => [],
};

const NO_HOOKS: TurnHooks = { has: () => false, run: () => undefined };

/** Conversations over a real store, with real delivery, for channels that are given as objects. */
export async function openTalk(options: TalkOptions): Promise<Talk> {
  const { store, clock, ids, agents, config = {}, channels = [], hooks = NO_HOOKS, commands = noCommands, log = silentLogger } = options;
  const random = seededRandom(7);
  const table = {
    get: (id: string) => channels.find((channel) => channel.id === id),
    ...(options.running ? { running: options.running } : {}),
    ...(options.receiving ? { receiving: options.receiving } : {}),
  };
  const { createDelivery } = await loadDelivery();
  const delivery = createDelivery({
    store,
    clock,
    random,
    ids,
    log,
    config: () => config,
    table,
    hooks,
    ...(options.limits ? { limits: options.limits } : {}),
  });
  const allowLists = createAllowLists({ store });
  const pairing = createPairing({ store, clock, random, ids, lists: allowLists });
  await allowLists.load();
  const conversation = createConversation({
    store,
    clock,
    ids,
    random,
    log,
    config: { current: config },
    hooks,
    agents,
    routing: createRouting(),
    channels: table,
    pairing,
    allowLists,
    delivery,
    commands,
    defaultAgentId: () => "main",
    ...(options.graceMs === undefined ? {} : { graceMs: options.graceMs }),
    ...(options.keepMedia ? { keepMedia: options.keepMedia } : {}),
    ...(options.transcribe ? { transcribe: options.transcribe } : {}),
    ...(options.understand ? { understand: options.understand } : {}),
    ...(options.speech ? { speech: options.speech } : {}),
  });
  // Where a process before left something, the test says when it goes on.
  const [left, begun] = await Promise.all([store.read("inbox.open", { limit: 1 }), store.read("turns.unfinished", {})]);
  if (left.length + begun.length === 0) await conversation.resume();
  return {
    conversation,
    delivery,
    pairing,
    allowLists,
    async [Symbol.asyncDispose]() {
      await conversation[Symbol.asyncDispose]();
      await delivery[Symbol.asyncDispose]();
    },
  };
}
