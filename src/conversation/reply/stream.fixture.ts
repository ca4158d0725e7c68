/** A turn and a channel for tests that record what is sent, shown and typed, in order. */
import type { TurnEnd, TurnEvent } from "../../agent/index.ts";
import { manualClock } from "../../base/clock.ts";
import { createLogger } from "../../base/log/logger.ts";
import { seededRandom } from "../../base/random.ts";
import { createRedactor } from "../../base/redaction.ts";
import type { ChannelPlugin, HostConfig, ReplyPayload } from "../../protocol/index.ts";
import { openReplyStream, type ReplyLevels, type ReplyStreamDeps } from "./reply-stream.ts";

export const ZERO = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };

export function turnEnd(texts: readonly string[], over: Partial<TurnEnd> = {}): TurnEnd {
  return {
    status: "ok",
    text: texts.at(-1) ?? "",
    texts,
    sessionId: "s1",
    startedAt: 0,
    endedAt: 1,
    usage: [],
    provider: "acme",
    model: "big-1-20250101",
    ...over,
  };
}

export interface Scene {
  readonly cfg?: HostConfig;
  readonly levels?: Partial<ReplyLevels>;
  readonly deps?: Partial<ReplyStreamDeps>;
  /** Additional parts of the channel. */
  readonly plugin?: Partial<ChannelPlugin>;
  /** Sending fails from this block on. */
  readonly failFrom?: number;
}

export const BLOCKS: HostConfig = {
  agents: { defaults: { blockStreamingChunk: { minChars: 10, maxChars: 60 }, blockStreamingCoalesce: { minChars: 1, maxChars: 60, idleMs: 0 } } },
  channels: { irc: { blockStreaming: true } },
};

/** Runs everything that waits only for promises. */
export async function settle(): Promise<void> {
  for (let round = 0; round < 20; round += 1) await Promise.resolve();
}

export function stage(scene: Scene = {}) {
  const clock = manualClock();
  const said: { readonly kind: string; readonly payload: ReplyPayload }[] = [];
  const levels: { -readonly [K in keyof ReplyLevels]: ReplyLevels[K] } = { verbose: "off", reasoning: "off", usage: "off", ...scene.levels };
  const plugin = {
    id: "irc",
    meta: { id: "irc", label: "IRC", selectionLabel: "IRC", docsPath: "/channels/irc", blurb: "" },
    capabilities: { chatTypes: ["direct"] },
    config: { listAccountIds: () => [], resolveAccount: () => ({}) },
    ...scene.plugin,
  } as ChannelPlugin;
  const stream = openReplyStream({
    plugin,
    address: { channel: "irc", accountId: "default", to: "#a", chatType: "direct", replyToId: "m1" },
    cfg: scene.cfg ?? {},
    agentId: "main",
    sessionKey: "agent:main:main",
    levels: () => levels,
    wasMentioned: false,
    isHeartbeat: false,
    clock,
    random: seededRandom(7),
    log: createLogger({ clock, redactor: createRedactor(), outputs: [] }),
    say(payload, kind) {
      if (scene.failFrom !== undefined && said.length >= scene.failFrom) return Promise.reject(new Error("the disk is full"));
      said.push({ kind, payload });
      return Promise.resolve();
    },
    spoken: [],
    prefixFacts: { identityName: "Ada" },
    localRoots: ["/srv/agent"],
    ...scene.deps,
  });
  const written = { text: "" };
  const emit = (event: TurnEvent): void => stream.event(event);
  function write(delta: string): void {
    written.text += delta;
    emit({ stream: "assistant", data: { text: written.text, delta } });
  }
  return {
    clock,
    levels,
    said,
    stream,
    texts: () => said.map(({ payload }) => payload.text),
    start: () => emit({ stream: "lifecycle", data: { phase: "start", startedAt: 0 } }),
    /** Appends text to the current answer. */
    write,
    /** Appends text character by character. */
    spell(text: string): void {
      for (const character of text) write(character);
    },
    /** Begins a new answer. */
    restart: () => void (written.text = ""),
    think: (text: string, delta = text) => emit({ stream: "thinking", data: { text, delta } }),
    tool(name = "exec", args: unknown = { command: "ls" }, output = "a.txt"): void {
      written.text = "";
      emit({ stream: "tool", data: { phase: "start", name, toolCallId: "c1", args } });
      const result = { content: [{ type: "text", text: output }] };
      emit({ stream: "tool", data: { phase: "result", name, toolCallId: "c1", isError: false, result } });
    },
    compacted: () => emit({ stream: "compaction", data: { phase: "end", willRetry: true } }),
  };
}
