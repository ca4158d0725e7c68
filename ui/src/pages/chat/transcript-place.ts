/** Keeps a reader's place in a log that grows above and below: at the end while they are there, otherwise at what they look at. */
export interface Place {
  /** The reader is at the end. */
  readonly atEnd: boolean;
  /** Manages the scroll position of a scroller and the list in it. `moved` is called on every scroll. */
  attach(scroller: HTMLElement, list: HTMLElement, moved: () => void): void;
  detach(): void;
  /** Puts the reader back where they were, after something changed. */
  restore(): void;
  toEnd(): void;
  /** Goes to a row, which stays where it then is. */
  to(key: string): void;
  /** Something is unfolded: what is looked at stays, even at the end. */
  hold(): void;
}

/** Nearer to the end than this is at the end, when scrolling down. Pixels. */
const NEAR = 48;
/** Between the top of the log and a row that was gone to. Pixels. */
const BELOW_TOP = 24;

interface Anchor {
  readonly key: string;
  readonly top: number;
}

interface Held {
  readonly scroller: HTMLElement;
  readonly list: HTMLElement;
  readonly sizes: ResizeObserver;
  readonly stop: AbortController;
}

function firstSeen(scroller: HTMLElement, list: HTMLElement): Anchor | undefined {
  const { top } = scroller.getBoundingClientRect();
  const rows = list.children;
  let [low, high] = [0, rows.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rows[middle]!.getBoundingClientRect().bottom > top) high = middle;
    else low = middle + 1;
  }
  const row = rows[low] as HTMLElement | undefined;
  const key = row?.dataset["key"];
  return key === undefined ? undefined : { key, top: row!.getBoundingClientRect().top - top };
}

/** Whether a reader who scrolled is at the end. Going up leaves it at once, so that a stream does not hold on to them. */
export function isAtEnd(was: boolean, moved: number, left: number): boolean {
  if (left <= 2) return true;
  if (moved < 0) return false;
  return left < NEAR || was;
}

export function createPlace(): Place {
  let held: Held | undefined;
  let atEnd = true;
  let anchor: Anchor | undefined;
  let last = 0;

  function note(): void {
    if (!held) return;
    last = held.scroller.scrollTop;
    anchor = atEnd ? undefined : firstSeen(held.scroller, held.list);
  }

  function restore(): void {
    if (!held) return;
    const { scroller, list } = held;
    if (atEnd) scroller.scrollTop = scroller.scrollHeight;
    else if (anchor) {
      const row = list.querySelector<HTMLElement>(`:scope > [data-key="${CSS.escape(anchor.key)}"]`);
      if (!row) return note();
      const by = row.getBoundingClientRect().top - scroller.getBoundingClientRect().top - anchor.top;
      if (Math.abs(by) >= 1) scroller.scrollTop += by;
    }
    last = scroller.scrollTop;
  }

  return {
    get atEnd() {
      return atEnd;
    },
    attach(scroller, list, moved) {
      held?.stop.abort();
      const stop = new AbortController();
      const sizes = new ResizeObserver(restore);
      held = { scroller, list, sizes, stop };
      sizes.observe(list);
      sizes.observe(scroller);
      stop.signal.addEventListener("abort", () => sizes.disconnect());
      const options = { passive: true, signal: stop.signal };
      scroller.addEventListener(
        "scroll",
        () => {
          const by = scroller.scrollTop - last;
          atEnd = isAtEnd(atEnd, by, scroller.scrollHeight - scroller.clientHeight - scroller.scrollTop);
          note();
          moved();
        },
        options,
      );
      restore();
    },
    detach() {
      held?.stop.abort();
      held = undefined;
    },
    restore,
    toEnd() {
      atEnd = true;
      anchor = undefined;
      restore();
    },
    to(key) {
      atEnd = false;
      anchor = { key, top: BELOW_TOP };
      restore();
    },
    hold() {
      atEnd = false;
      note();
    },
  };
}
