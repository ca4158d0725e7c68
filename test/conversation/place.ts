import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Agents } from "../../src/agent/index.ts";
import { systemClock, type Clock } from "../../src/base/clock.ts";
import { createIds } from "../../src/base/ids.ts";
import { seededRandom } from "../../src/base/random.ts";
import type { Config, OpenClawConfig } from "../../src/config/index.ts";
import { loadKeepMedia } from "../../src/conversation/index.ts";
import type { ChannelInbound, ChannelInboundEvent, ChannelOutboundContext, ChannelPlugin } from "../../src/protocol/index.ts";
import { openStore, type Store } from "../../src/store/index.ts";
import { echoAgents, type EchoDeps } from "../harness/echo-agents.ts";
import { openTalk, type Talk, type TalkOptions } from "../harness/talk.ts";

export interface Place extends Talk {
  readonly store: Store;
  readonly inbound: ChannelInbound;
  /** What went out, in order. */
  readonly sent: ChannelOutboundContext[];
  /** Resolves when so many messages went out. */
  out(count: number): Promise<readonly string[]>;
  /** Resolves when nothing waits or runs. */
  quiet(): Promise<void>;
}

/** A channel without a platform: what is sent is kept. */
export function keepingChannel(sent: ChannelOutboundContext[], onSent: () => void = () => {}, over: Partial<ChannelPlugin> = {}): ChannelPlugin {
  return {
    id: "test",
    meta: { id: "test", label: "Test", selectionLabel: "Test", docsPath: "", blurb: "" },
    capabilities: { chatTypes: ["direct", "group"] },
    config: { listAccountIds: () => ["default"], resolveAccount: () => ({}) },
    outbound: {
      deliveryMode: "direct",
      textChunkLimit: 4000,
      async sendText(context) {
        sent.push(context);
        onSent();
        return { channel: "test", messageId: `m${sent.length}` };
      },
    },
    ...over,
  };
}

type TurnOf = Agents["turn"];

/** One life of the process, in a folder of its own or a given one. */
export async function openPlace(
  config: OpenClawConfig,
  over: Partial<Pick<TalkOptions, "hooks" | "commands" | "agents" | "limits" | "transcribe" | "understand" | "speech">> & {
    readonly folder?: string;
    readonly clock?: Clock;
    readonly channel?: Partial<ChannelPlugin>;
    /** Files of messages are fetched through the channel and stored. */
    readonly storesMedia?: boolean;
    /** Called with each request to the model. */
    readonly heard?: EchoDeps["heard"];
    /** Stands before the agents. */
    readonly wrap?: (turn: TurnOf) => TurnOf;
  } = {},
): Promise<Place & { readonly folder: string }> {
  const own = over.folder === undefined;
  const folder = over.folder ?? mkdtempSync(join(tmpdir(), "talk-"));
  const clock = over.clock ?? systemClock;
  const store = await openStore({ stateDir: folder, clock });
  const ids = createIds(seededRandom(Math.floor(Math.random() * 1e9)));
  const sent: ChannelOutboundContext[] = [];
  let wake = (): void => {};
  const channel = keepingChannel(sent, () => wake(), over.channel);
  const agents = over.agents ?? echoAgents({ store, clock, ids, folder, ...(over.heard ? { heard: over.heard } : {}) });
  const media = { config: { current: config, paths: { state: folder } } as unknown as Config, ids, channels: { get: () => channel } };
  const talk = await openTalk({
    ...(over.storesMedia ? { keepMedia: async (...args) => (await loadKeepMedia()).mediaKeeper(media)(...args) } : {}),
    store,
    clock,
    ids,
    config,
    channels: [channel],
    ...over,
    async agents() {
      const real = await agents();
      const turn: TurnOf = (input, ports) => real.turn(input, ports);
      return { turn: over.wrap?.(turn) ?? turn, after: (...asked) => real.after(...asked) };
    },
  });
  return {
    ...talk,
    folder,
    store,
    sent,
    inbound: talk.conversation.inbound("test", "default"),
    async out(count) {
      while (sent.length < count) await new Promise<void>((resolve) => (wake = resolve));
      return sent.map(({ text }) => text);
    },
    async quiet() {
      while (talk.conversation.running() > 0 || talk.delivery.open() > 0) await new Promise((resolve) => setTimeout(resolve, 2));
    },
    async [Symbol.asyncDispose]() {
      await talk[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
      if (own) rmSync(folder, { recursive: true, force: true });
    },
  };
}

let next = 0;

/** A direct message, unless the fields say otherwise. */
export function event(text: string, over: Partial<ChannelInboundEvent> = {}): ChannelInboundEvent {
  next += 1;
  return { kind: "message", id: `in-${next}`, chat: { type: "direct", id: "ada" }, sender: { id: "ada", name: "Ada" }, text, to: "ada", ...over };
}

export const OPEN: OpenClawConfig = { channels: { test: { dmPolicy: "open", allowFrom: ["*"] } } };
