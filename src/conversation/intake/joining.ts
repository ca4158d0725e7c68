/** What comes before the examination of messages: joining those that belong together, and their order. */
import type { Clock } from "../../base/clock.ts";
import { effectiveChannelConfig, resolveInboundDebounceMs } from "../../channels/index.ts";
import type { HostConfig } from "../../protocol/index.ts";
import { chatOf, isLate, type Inbound } from "../inbound.ts";
import type { Item } from "../items.ts";

/** Messages that belong together are handed on together: parts of a long one, albums, what is written in quick succession. */
interface Joining {
  /** `isControl`: it does not wait for others. */
  add(item: Item, isControl: boolean): void;
}

interface Waiting {
  readonly items: [Item, ...Item[]];
  timer: Disposable;
}

/** Parts of one message, and messages that are one. More begin the next. */
const MAX_PARTS = 50;
/** Messages of a back-log that one turn answers, and how long the next of them is waited for. */
const MAX_LATE = 200;
const LATE_WAIT_MS = 1000;

interface Wait {
  readonly ms: number;
  readonly part: string;
  readonly most: number;
}

/** The name that messages of a back-log wait under. */
const LATE = "\0part\0late";
const NO_WAIT: Wait = { ms: 0, part: "", most: MAX_PARTS };

export function createJoining(
  deps: { readonly clock: Pick<Clock, "after">; readonly config: { readonly current: HostConfig } },
  hand: (items: readonly [Item, ...Item[]]) => void,
): Joining {
  const waiting = new Map<string, Waiting>();

  function flush(key: string): void {
    const found = waiting.get(key);
    if (!found) return;
    waiting.delete(key);
    found.timer[Symbol.dispose]();
    hand(found.items);
  }

  /** How long it waits for more, and under which name. */
  function waitOf({ event, channel, accountId, context, receivedAt }: Inbound): Wait {
    // A plugin that reads messages by itself has put together what belongs together.
    if (context) return NO_WAIT;
    if (event.kind === "message" && isLate(event, receivedAt)) return { ms: LATE_WAIT_MS, part: LATE, most: MAX_LATE };
    if (event.joins) return { ms: event.joins.waitMs, part: `\0part\0${event.joins.key}`, most: MAX_PARTS };
    const textOnly = !event.media?.length && !event.location && event.kind === "message";
    if (!textOnly) return NO_WAIT;
    const cfg = deps.config.current;
    const own = effectiveChannelConfig(cfg, channel, accountId)["debounceMs"];
    return { ...NO_WAIT, ms: resolveInboundDebounceMs({ cfg, channel, overrideMs: typeof own === "number" ? own : undefined }) };
  }

  /** Back-logs of several senders in one session go on together, in the order of their last messages: none overtakes what was written before it. */
  function flushLate(session: string): void {
    for (const key of waiting.keys()) if (key.startsWith(session) && key.endsWith(LATE)) flush(key);
  }

  return {
    add(item, isControl) {
      const [inbound] = item.messages;
      const session = `${chatOf(inbound)}\0${inbound.sessionKey}\0`;
      const sender = `${session}${inbound.event.sender.id}`;
      const { ms, part, most } = isControl ? NO_WAIT : waitOf(inbound);
      const key = `${sender}${part}`;
      const isBacklog = part === LATE;
      if (!isBacklog && waiting.size > 0) flushLate(session);
      // What waits under another name was written before.
      for (const other of waiting.keys()) if (other !== key && (other === sender || other.startsWith(`${sender}\0part\0`))) flush(other);
      if (ms <= 0) {
        if (waiting.has(key)) flush(key);
        return hand([item]);
      }
      const over = (): void => (isBacklog ? flushLate(session) : flush(key));
      const timer = deps.clock.after(ms, over);
      const found = waiting.get(key);
      if (!found) return void waiting.set(key, { items: [item], timer });
      found.timer[Symbol.dispose]();
      found.timer = timer;
      found.items.push(item);
      // Back-logs go on in the order of their last messages: what was joined later stands behind what others wrote before it.
      waiting.delete(key);
      waiting.set(key, found);
      if (found.items.length >= most) over();
    },
  };
}

/** Messages of one chat or session are examined one after the other. While one of them takes long, quick ones overtake it. */
interface Order {
  add(name: string, work: OrderedWork): void;
  /** Resolves when nothing is queued or running any more. */
  idle(): Promise<void>;
}

export interface OrderedWork {
  /** It changes nothing that the others see, and is over soon. */
  readonly isQuick: boolean;
  /** Must not reject. `tookLong` says that quick work need not wait for the end of this. */
  run(tookLong: () => void): Promise<void>;
}

interface Line {
  waiting: OrderedWork[];
  takesLong: boolean;
}

export function createOrder(): Order {
  const lines = new Map<string, Line>();
  const running = new Set<Promise<void>>();

  function track(work: Promise<void>): void {
    running.add(work);
    void work.finally(() => running.delete(work));
  }

  async function drain(name: string, line: Line, first: OrderedWork): Promise<void> {
    for (let work: OrderedWork | undefined = first; work; work = line.waiting.shift()) {
      line.takesLong = false;
      let isOver = false;
      await work.run(() => {
        if (isOver) return;
        line.takesLong = true;
        const quick = line.waiting.filter(({ isQuick }) => isQuick);
        line.waiting = line.waiting.filter(({ isQuick }) => !isQuick);
        for (const one of quick) track(one.run(() => {}));
      });
      isOver = true;
    }
    lines.delete(name);
  }

  return {
    add(name, work) {
      const line = lines.get(name);
      if (!line) {
        const begun: Line = { waiting: [], takesLong: false };
        lines.set(name, begun);
        track(drain(name, begun, work));
      } else if (work.isQuick && line.takesLong) track(work.run(() => {}));
      else line.waiting.push(work);
    },
    async idle() {
      while (running.size > 0) await Promise.all(running);
    },
  };
}
