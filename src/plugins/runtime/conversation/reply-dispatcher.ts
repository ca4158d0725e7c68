import type { Clock } from "../../../base/clock.ts";
import { messageOf } from "../../../base/errors.ts";
import type { Logger } from "../../../base/log/logger.ts";
import type { Random } from "../../../base/random.ts";
import { fillPrefix, withPrefix } from "../../../conversation/index.ts";
import type { HumanDelayConfig, ReplyCounts, ReplyDispatcher, ReplyDispatcherOptions, ReplyKind, ReplyPayload } from "../../../protocol/index.ts";

/** A dispatcher of ours, with what the host does with it besides. */
export interface HostDispatcher {
  readonly dispatcher: ReplyDispatcher;
  readonly options: ReplyDispatcherOptions;
  /** Hands over a reply in its turn; rejects with what `deliver` threw. `isPaced`: the caller makes the pauses. */
  deliver(payload: ReplyPayload, kind: ReplyKind, isPaced: boolean): Promise<unknown>;
}

export interface DispatcherDeps {
  readonly clock: Clock;
  readonly random: Pick<Random, "float">;
  readonly log: Logger;
}

const NATURAL = { minMs: 800, maxMs: 2500 };
const SILENT = "NO_REPLY";
const ALIVE = "HEARTBEAT_OK";

function pauseMs(config: HumanDelayConfig | undefined, random: Pick<Random, "float">): number {
  if (!config?.mode || config.mode === "off") return 0;
  const least = Math.max(0, (config.mode === "custom" ? config.minMs : undefined) ?? NATURAL.minMs);
  const most = (config.mode === "custom" ? config.maxMs : undefined) ?? NATURAL.maxMs;
  return Math.round(least + random.float() * Math.max(0, most - least));
}

const hasMore = ({ mediaUrl, mediaUrls, channelData }: ReplyPayload): boolean =>
  Boolean(mediaUrl) || (mediaUrls?.length ?? 0) > 0 || (channelData !== undefined && Object.keys(channelData).length > 0);

type Shaped = { readonly payload: ReplyPayload; readonly wasAlive: boolean } | { readonly skip: "empty" | "silent" | "heartbeat" };

/** What is handed over of a reply: without marks that are for the host, and behind its prefix. */
function shaped(payload: ReplyPayload, { responsePrefix, responsePrefixContextProvider }: ReplyDispatcherOptions): Shaped {
  const written = payload.text?.trim() ?? "";
  const words = written.startsWith(ALIVE) ? written.slice(ALIVE.length).trim() : written.endsWith(ALIVE) ? written.slice(0, -ALIVE.length).trim() : written;
  const wasAlive = words !== written;
  if (!hasMore(payload)) {
    if (written === "") return { skip: "empty" };
    if (written === SILENT) return { skip: "silent" };
    if (words === "") return { skip: "heartbeat" };
  }
  if (payload.text === undefined) return { payload, wasAlive };
  const text = written === SILENT ? "" : wasAlive ? words : payload.text;
  const prefix = responsePrefix === undefined ? undefined : fillPrefix(responsePrefix, responsePrefixContextProvider?.() ?? {});
  return { payload: { ...payload, text: withPrefix(text, prefix) }, wasAlive };
}

/** One chain of deliveries: each begins when the one before is over, whatever became of that. */
export function createReplyDispatcher(options: ReplyDispatcherOptions, { clock, random, log }: DispatcherDeps): HostDispatcher {
  const counts: ReplyCounts = { tool: 0, block: 0, final: 0 };
  let chain: Promise<unknown> = Promise.resolve();
  let blocks = 0;

  async function pause(kind: ReplyKind, isPaced: boolean): Promise<void> {
    if (kind !== "block") return;
    blocks += 1;
    const ms = blocks > 1 && !isPaced ? pauseMs(options.humanDelay, random) : 0;
    if (ms === 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    clock.after(ms, resolve);
    await promise;
  }

  function enqueue(given: ReplyPayload, kind: ReplyKind, isPaced: boolean): Promise<unknown> | undefined {
    const found = shaped(given, options);
    if ("skip" in found) {
      options.onSkip?.(given, { kind, reason: found.skip });
      return undefined;
    }
    if (found.wasAlive) options.onHeartbeatStrip?.();
    counts[kind] += 1;
    const done = chain.then(async () => {
      await pause(kind, isPaced);
      return options.deliver(found.payload, { kind });
    });
    chain = done.catch((error: unknown) => {
      if (options.onError) options.onError(error, { kind });
      else log.warn(`a plugin could not deliver a reply: ${messageOf(error)}`, { kind });
    });
    return done;
  }

  const send =
    (kind: ReplyKind) =>
    (payload: ReplyPayload): boolean => {
      const done = enqueue(payload, kind, false);
      done?.catch(() => {}); // Reported with `onError`.
      return done !== undefined;
    };
  return {
    options,
    deliver: async (payload, kind, isPaced) => enqueue(payload, kind, isPaced),
    dispatcher: {
      sendToolResult: send("tool"),
      sendBlockReply: send("block"),
      sendFinalReply: send("final"),
      waitForIdle: async () => void (await chain.catch(() => {})),
      getQueuedCounts: () => ({ ...counts }),
      markComplete: () => {},
    },
  };
}
