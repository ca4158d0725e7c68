/** Says things one after the other while a turn runs, with a pause between blocks where that is wanted. */
import type { Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/log/logger.ts";
import type { ReplyPayload } from "../../protocol/index.ts";

export interface SpeakerDeps {
  say(payload: ReplyPayload, kind: "block" | "tool"): Promise<void>;
  /** Before a block that follows another, in milliseconds. */
  readonly pauseMs: () => number;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Something to say. Without a payload it is only told when its turn has come. */
export interface Utterance {
  readonly payload: ReplyPayload | undefined;
  readonly kind: "block" | "tool";
  /** It is on its way, for good. */
  said?(): void;
}

export interface Speaker {
  say(one: Utterance): void;
  /** Something is waiting to be handed over. */
  isBusy(): boolean;
  /** Blocks that have not begun are dropped; the rest is sent. What was dropped is in nobody's `said`. */
  drain(): Promise<void>;
  /** Everything is said, or `maxMs` have passed: then what has not begun stays unsaid. */
  settle(maxMs: number): Promise<void>;
  /** Nothing more is said; what is being said is waited for. */
  stop(): Promise<void>;
}

export function createSpeaker({ say, pauseMs, clock, log }: SpeakerDeps): Speaker {
  const queue: Utterance[] = [];
  let running: Promise<void> | undefined;
  let closed = false;
  /** A block could not be said: those after it wait for the end, so that the order stays. */
  let broken = false;
  let blocks = 0;
  let wake: (() => void) | undefined;

  async function pause(): Promise<void> {
    const ms = pauseMs();
    if (ms <= 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    wake = resolve;
    using _timer = clock.after(ms, resolve);
    await promise;
    wake = undefined;
  }

  async function utter({ payload, kind, said }: Utterance): Promise<void> {
    if (kind === "block" && broken) return;
    if (payload && kind === "block" && blocks > 0) await pause();
    if (closed) return;
    try {
      if (payload) await say(payload, kind);
      if (payload && kind === "block") blocks += 1;
      said?.();
    } catch (error) {
      if (kind === "block") broken = true;
      log.warn(`a part of an answer could not be handed over while the answer was written: ${messageOf(error)}`, { kind });
    }
  }

  async function run(): Promise<void> {
    for (let next = queue.shift(); next; next = queue.shift()) await utter(next);
    running = undefined;
  }

  function stop(): Promise<void> {
    closed = true;
    queue.length = 0;
    wake?.();
    return running ?? Promise.resolve();
  }

  return {
    say(one) {
      if (closed) return;
      queue.push(one);
      running ??= run();
    },
    isBusy: () => running !== undefined,
    async drain() {
      queue.splice(0, queue.length, ...queue.filter(({ kind }) => kind !== "block"));
      wake?.();
      await running;
      broken = false;
    },
    async settle(maxMs) {
      if (running) {
        using _timer = clock.after(maxMs, () => void stop());
        await running;
      }
      await stop();
    },
    stop,
  };
}
