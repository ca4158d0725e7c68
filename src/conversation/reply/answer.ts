/** One answer of the model while it is written: its text without directives, and what of it was sent as blocks. */
import { isSilentReply } from "../../agent/index.ts";
import type { Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/log/logger.ts";
import type { ReplyPayload } from "../../protocol/index.ts";
import { createBlockWriter, type Block, type BlockSettings, type BlockWriter } from "./blocks.ts";
import { createDirectiveScanner } from "./directives.ts";
import { payloadOf, mayBeSilent, stripAlive } from "./payload.ts";

/** What the model thinks, collected from the events of a turn. */
export interface Thoughts {
  /** What it thinks at the moment, from its beginning. */
  now: string;
  /** What it thought before it wrote something or called a tool, and was not taken yet. */
  finished: string[];
}

const MAX_CHARS = 32_000;

export function addThought(thoughts: Thoughts, text: string, delta: string): void {
  // It begins again without having led to anything: that call was given up.
  if (text.length === delta.length) thoughts.now = "";
  if (thoughts.now.length < MAX_CHARS) thoughts.now += delta;
}

/** The model has written something or called a tool: what it thought until then counts. */
export function finishThought(thoughts: Thoughts): void {
  const thought = thoughts.now.trim();
  if (thought !== "") thoughts.finished.push(thought);
  thoughts.now = "";
}

/** Everything that was not taken yet. */
export function takeThoughts(thoughts: Thoughts): string {
  finishThought(thoughts);
  return thoughts.finished.splice(0).join("\n\n");
}

interface SpeakerDeps {
  say(payload: ReplyPayload, kind: "block" | "tool"): Promise<void>;
  /** Before a block that follows another, in milliseconds. */
  readonly pauseMs: () => number;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Something to send. Without a payload it is only reported when its turn has come. */
interface Utterance {
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
      log.warn(`a part of an answer could not be delivered while the answer was written: ${messageOf(error)}`, { kind });
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

/** What of an answer is out. */
export interface SaidParts {
  /** As written, from its beginning. */
  readonly raw: readonly string[];
  readonly media: number;
}

export interface LiveAnswer {
  /** Takes a part of the answer and gives the text that is certain now; nothing while it may mean silence. */
  push(delta: string): string;
  /** Takes that text to be sent in blocks; undefined where there are none. */
  readonly blocks: BlockWriter | undefined;
  /** It is complete: what was not said yet is said now. */
  close(): void;
  /** It goes on without blocks. */
  hold(): void;
  readonly said: SaidParts;
  /** Nothing came yet. */
  isEmpty: boolean;
}

export interface AnswerDeps {
  /** Undefined: nothing is said before the end. */
  readonly blocks: BlockSettings | undefined;
  readonly speaker: Speaker;
  readonly clock: Clock;
  readonly localRoots: readonly string[];
  readonly currentId: string | undefined;
  /** The payload as it goes out. */
  readonly dress: (payload: ReplyPayload) => ReplyPayload;
}

/** Whatever still looks like silence after this much is left for the end of the turn. */
const MAX_WAITING = 1000;

export function createAnswer({ blocks, speaker, clock, localRoots, currentId, dress }: AnswerDeps): LiveAnswer {
  const scanner = createDirectiveScanner(localRoots);
  const said: { readonly raw: string[]; media: number } = { raw: [], media: 0 };
  const queued = { blocks: 0, media: 0, spoken: false };
  let waiting = "";
  let silent = true;
  const writer = blocks && createBlockWriter({ settings: blocks, clock, emit: (block) => speak(block) });

  function speak({ text, raw }: Block): void {
    const found = scanner.found();
    const media = found.media.slice(queued.media);
    const words = queued.blocks === 0 ? stripAlive(text).text : text;
    const payload = payloadOf(words, queued.spoken ? { ...found, spokenText: undefined } : found, { currentId }, media);
    queued.blocks += 1;
    queued.media += media.length;
    queued.spoken ||= found.spokenText !== undefined;
    speaker.say({
      payload: payload && dress(payload),
      kind: "block",
      said() {
        said.raw.push(raw);
        said.media += media.length;
      },
    });
  }

  /** Words are held back while they may mean silence. */
  function release(words: string): string {
    if (!silent) return words;
    if (waiting.length > MAX_WAITING) return "";
    waiting += words;
    if (mayBeSilent(waiting)) return "";
    silent = false;
    return waiting;
  }

  const answer: LiveAnswer = {
    blocks: writer,
    said,
    isEmpty: true,
    push(delta) {
      answer.isEmpty = false;
      return release(scanner.push(delta));
    },
    close() {
      const words = release(scanner.end());
      if (!writer || silent) return;
      writer.push(words);
      const rest = writer.rest();
      // Silence at the end takes back what is not out yet.
      if (isSilentReply(rest.map(({ raw }) => raw).join(""))) return;
      const last = rest.findLastIndex(({ text }) => text !== "");
      rest.forEach((block, index) => speak(index === last ? { ...block, text: stripAlive(block.text).text } : block));
      if (rest.length === 0 && queued.media < scanner.found().media.length) speak({ text: "", raw: "" });
    },
    hold: () => writer?.stop(),
  };
  return answer;
}
