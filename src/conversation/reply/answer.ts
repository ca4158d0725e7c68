/** One answer of the model while it is written: its words without directives, and what of them was said as blocks. */
import { isSilentReply } from "../../agent/index.ts";
import type { Clock } from "../../base/clock.ts";
import type { ReplyPayload } from "../../protocol/index.ts";
import { createBlockWriter, type Block } from "./blocks/block-writer.ts";
import type { BlockSettings } from "./blocks/settings.ts";
import { createDirectiveScanner } from "./shape/directives.ts";
import { payloadOf } from "./shape/payload.ts";
import { mayBeSilent, stripAlive } from "./shape/silence.ts";
import type { Speaker } from "./speaker.ts";

/** What of an answer is out. */
export interface SaidParts {
  /** As written, from its beginning. */
  readonly raw: readonly string[];
  readonly media: number;
}

export interface LiveAnswer {
  /** Gives the words that came along; nothing while it may mean silence. `before` is called first when there are some. */
  push(delta: string, before: () => void): string;
  /** It is complete: what was not said yet is said now. */
  close(): void;
  /** It goes on without blocks. */
  hold(): void;
  said(): SaidParts;
  empty(): boolean;
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
  const said = { raw: [] as string[], media: 0 };
  const queued = { blocks: 0, media: 0, spoken: false };
  let waiting = "";
  let silent = true;
  let empty = true;
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

  return {
    push(delta, before) {
      empty = false;
      const words = release(scanner.push(delta));
      if (words === "") return "";
      before();
      writer?.push(words);
      return words;
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
    said: () => said,
    empty: () => empty,
  };
}
