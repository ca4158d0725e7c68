/** Turns the words of one answer, as they come, into blocks: cut where it reads well, small ones put together. */
import type { Clock } from "../../../base/clock.ts";
import { nextCut, renderBlock, skipBlank, type BlockCut, type OpenFence } from "./cut.ts";
import type { BlockSettings } from "./settings.ts";

/** A part of an answer that can be sent. */
export interface Block {
  /** As it is sent. */
  readonly text: string;
  /** As it was written, with the white space behind it: all blocks together are the answer. */
  readonly raw: string;
}

export interface BlockWriter {
  push(words: string): void;
  /** The answer is complete: the rest of it as blocks, which are not given out by itself any more. */
  rest(): readonly Block[];
  /** Nothing more is given out; what was not stays out. */
  stop(): void;
}

export interface BlockWriterDeps {
  readonly settings: Pick<BlockSettings, "breakAt" | "chunk" | "coalesce">;
  readonly clock: Clock;
  /** Code that the words begin in. */
  readonly open?: OpenFence | undefined;
  /** A block is ready. */
  emit(block: Block): void;
}

const MAX_BLANK = 4096;
/** Words after which a look for a place to cut is worth it. */
const MAY_CUT = /[\n.!?。！？]/;

export function createBlockWriter({ settings: { breakAt, chunk, coalesce }, clock, open: begun, emit }: BlockWriterDeps): BlockWriter {
  /** Not given out yet. */
  let buffer = "";
  /** Code that the buffer begins in. */
  let open = begun;
  /** How much of the buffer is cut and waits for more. */
  let ready: BlockCut | undefined;
  /** White space before the buffer. */
  let before: string[] = [];
  let timer: Disposable | undefined;
  let stopped = false;

  /** Takes what lies before `cut` out of the buffer. */
  function take(cut: BlockCut): Block {
    const block = { text: renderBlock(buffer.slice(0, cut.end), open, coalesce.maxChars), raw: before.join("") + buffer.slice(0, cut.next) };
    before = [];
    buffer = buffer.slice(cut.next);
    open = cut.open;
    ready = undefined;
    return block;
  }

  const give = (block: Block): void => {
    if (block.raw !== "") emit(block);
  };

  /** Where the next piece begins. White space is put aside, so that no amount of it is looked at twice. */
  function start(): number {
    if (ready && !stopped && buffer.length - ready.next > MAX_BLANK && skipBlank(buffer, ready.next) === buffer.length) give(take(ready));
    if (ready || open) return ready ? (ready.open ? ready.next : skipBlank(buffer, ready.next)) : 0;
    const blank = skipBlank(buffer, 0);
    if (blank > 0) before.push(buffer.slice(0, blank));
    buffer = buffer.slice(blank);
    return 0;
  }

  /** Cuts the next piece off; gives the block that it does not fit to any more. */
  function cut(ended: boolean): { readonly full?: Block } | undefined {
    const from = start();
    const next = nextCut(buffer, from, ready ? ready.open : open, chunk, ended);
    if (!next) return undefined;
    const lines = (open ? open.line.length + 1 : 0) + (next.open ? next.open.marker.length + 1 : 0);
    if (!ready || next.end + lines <= coalesce.maxChars) {
      ready = next;
      return {};
    }
    const { next: taken } = ready;
    const full = take(ready);
    ready = { ...next, end: next.end - taken, next: next.next - taken };
    return { full };
  }

  function arm(): void {
    timer?.[Symbol.dispose]();
    timer = undefined;
    if (!ready || ready.end < coalesce.minChars) return;
    if (ready.end >= coalesce.maxChars || coalesce.idleMs === 0) return give(take(ready));
    timer = clock.after(coalesce.idleMs, () => ready && give(take(ready)));
  }

  function stop(): void {
    stopped = true;
    timer?.[Symbol.dispose]();
    timer = undefined;
  }

  return {
    push(words) {
      buffer += words;
      const worth = MAY_CUT.test(words) || buffer.length - (ready?.next ?? 0) > chunk.maxChars;
      if (stopped || breakAt === "message_end" || !worth) return;
      let changed = false;
      for (let step = cut(false); step; step = cut(false)) {
        if (step.full) give(step.full);
        changed = true;
      }
      if (changed) arm();
    },
    rest() {
      stop();
      const blocks: Block[] = [];
      for (let step = cut(true); step; step = cut(true)) if (step.full) blocks.push(step.full);
      if (ready) blocks.push(take(ready));
      // White space at the very end.
      const left = before.join("") + buffer;
      if (left !== "") blocks.push({ text: "", raw: left });
      buffer = "";
      return blocks;
    },
    stop,
  };
}
