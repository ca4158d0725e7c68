/** Shows that an answer is being written, again and again until it is there. */
import type { Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/log/logger.ts";
import { sectionOf } from "../../channels/index.ts";
import type { ChatType, HostConfig, ChannelTypingAdapter } from "../../protocol/index.ts";
import type { ReplyAddress } from "../address.ts";

type TypingMode = "never" | "instant" | "thinking" | "message";

interface TypingFacts {
  readonly chatType: ChatType;
  readonly wasMentioned: boolean;
  readonly isHeartbeat: boolean;
}

/** `session.typingMode` over the agents' default; else at once where we were spoken to, and with the first word elsewhere. Never for heartbeats. */
export function typingMode(cfg: HostConfig, { chatType, wasMentioned, isHeartbeat }: TypingFacts): TypingMode {
  if (isHeartbeat) return "never";
  for (const mode of [sectionOf(cfg.session)?.["typingMode"], cfg.agents?.defaults?.["typingMode"]]) {
    if (mode === "never" || mode === "instant" || mode === "thinking" || mode === "message") return mode;
  }
  return chatType === "direct" || wasMentioned ? "instant" : "message";
}

const DEFAULT_MS = 6000;

/** Here the agents' default goes before `session`. The channel decides where nothing is configured. */
export function typingIntervalMs(cfg: HostConfig, channelMs?: number): number {
  for (const seconds of [cfg.agents?.defaults?.["typingIntervalSeconds"], sectionOf(cfg.session)?.["typingIntervalSeconds"]]) {
    if (typeof seconds === "number" && seconds > 0) return seconds * 1000;
  }
  return channelMs ?? DEFAULT_MS;
}

export interface Typing {
  /** The model was asked. */
  started(): void;
  /** It thinks, and shows that it does. */
  thinking(): void;
  /** It says something that is not silence. */
  speaking(): void;
  /** Something else happened: the turn is alive. */
  alive(): void;
  /** The answer is there, or there will be none. Nobody waits for the sign to go away. */
  stop(): void;
}

interface TypingDeps {
  readonly adapter: ChannelTypingAdapter | undefined;
  readonly address: ReplyAddress;
  readonly cfg: HostConfig;
  readonly mode: TypingMode;
  readonly intervalMs: number;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Without any sign of life of the turn. */
const TTL_MS = 120_000;
const MAX_FAILURES = 3;

export function createTyping({ adapter, address, cfg, mode, intervalMs, clock, log }: TypingDeps): Typing {
  const { accountId, to, threadId } = address;
  const params = { cfg, accountId, to, ...(threadId === undefined ? {} : { threadId }) };
  const ending = new AbortController();
  let wanted = false;
  let shown = false;
  let aliveAt = clock.monotonic();
  let failures = 0;
  let timer: Disposable | undefined;
  let pending: Promise<void> | undefined;

  function show(): void {
    if (!adapter || pending || ending.signal.aborted) return;
    shown = true;
    pending = (async () => adapter.start({ ...params, signal: ending.signal }))()
      .then(
        () => void (failures = 0),
        (error: unknown) => {
          failures += 1;
          if (!ending.signal.aborted) log.debug(`typing could not be shown: ${messageOf(error)}`, { channel: address.channel });
        },
      )
      .finally(() => void (pending = undefined));
  }

  function tick(): void {
    timer = undefined;
    if (!wanted || ending.signal.aborted || failures >= MAX_FAILURES) return;
    // Whatever hangs should not look like work for ever.
    if (clock.monotonic() - aliveAt >= TTL_MS) return void (wanted = false);
    show();
    timer = clock.after(intervalMs, tick);
  }

  function begin(): void {
    alive();
    if (wanted || mode === "never") return;
    wanted = true;
    if (!timer) tick();
  }

  function alive(): void {
    const expired = shown && !wanted;
    aliveAt = clock.monotonic();
    if (!expired || ending.signal.aborted || failures >= MAX_FAILURES) return;
    wanted = true;
    tick();
  }

  return {
    started: () => (mode === "instant" ? begin() : alive()),
    thinking: () => (mode === "instant" || mode === "thinking" ? begin() : alive()),
    speaking: () => (mode === "thinking" ? alive() : begin()),
    alive,
    stop() {
      if (ending.signal.aborted) return;
      timer?.[Symbol.dispose]();
      ending.abort();
      if (!shown || !adapter?.stop) return;
      (async () => adapter.stop?.(params))().catch((error: unknown) => log.debug(`typing could not be removed: ${messageOf(error)}`));
    },
  };
}
