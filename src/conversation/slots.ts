/** How many turns run at once: chats, sub-agents, jobs and other programs each have slots of their own. */
import type { OpenClawConfig } from "../config/index.ts";
import type { Item } from "./items.ts";
import type { ConversationDeps } from "./ports.ts";

const MAX_CONCURRENT = 4;
const MAX_SUBAGENTS = 8;
/** Turns that other turns asked for, and may wait for. */
const MAX_NESTED = 32;
/** Runs that other programs ask for. */
const MAX_WEBHOOKS = 4;
const MAX_JOBS = 8;

/** How many scheduled jobs run side by side. */
export const jobSlots = ({ cron }: OpenClawConfig): number => cron?.maxConcurrentRuns ?? MAX_JOBS;

/** A limited number of slots that work waits for, first come first served. */
interface GlobalLane {
  /** Resolves with a slot; give it back when the work is over. */
  enter(): Promise<Disposable>;
  readonly running: number;
}

/** `most` is read each time: it may change while the gateway runs. */
function createGlobalLane(most: () => number): GlobalLane {
  const queue: (() => void)[] = [];
  let running = 0;

  function admit(): void {
    const slots = Math.max(1, most());
    for (let next = running < slots ? queue.shift() : undefined; next; next = running < slots ? queue.shift() : undefined) {
      running += 1;
      next();
    }
  }

  return {
    enter() {
      const { promise, resolve } = Promise.withResolvers<Disposable>();
      let left = false;
      const leave = (): void => {
        if (left) return;
        left = true;
        running -= 1;
        admit();
      };
      queue.push(() => resolve({ [Symbol.dispose]: leave }));
      admit();
      return promise;
    },
    get running() {
      return running;
    },
  };
}

/** The slots that the turns of sessions have. */
export interface Slots {
  /** Does the work of an item in a slot of its kind, when one is free. */
  inSlot(item: Item, work: () => Promise<void>): Promise<void>;
  /** Gives the slot of a session's turn to others while it waits for them. The turn has one again when this resolves, unless it was aborted. */
  withoutSlot<T>(sessionKey: string, signal: AbortSignal, work: () => Promise<T>): Promise<T>;
  readonly running: number;
}

/** The slot of a turn that runs. */
interface Taken {
  readonly lane: GlobalLane;
  slot: Disposable;
  /** How often it was given away and not asked for again. */
  given: number;
}

export function createSlots(config: ConversationDeps["config"]): Slots {
  const main = createGlobalLane(() => config.current.agents?.defaults?.maxConcurrent ?? MAX_CONCURRENT);
  // A turn may wait for its sub-agents, or for another session: they do not wait for a slot behind it.
  const subagents = createGlobalLane(() => config.current.agents?.defaults?.subagents?.maxConcurrent ?? MAX_SUBAGENTS);
  const nested = createGlobalLane(() => MAX_NESTED);
  // Other programs may send more than is answered: the user's messages do not wait behind that.
  const webhooks = createGlobalLane(() => config.current.cron?.maxConcurrentRuns ?? MAX_WEBHOOKS);
  // Nor behind jobs, however many are due.
  const jobs = createGlobalLane(() => jobSlots(config.current));
  const byKind = new Map<string | undefined, GlobalLane>([
    ["session", nested],
    ["webhook", webhooks],
    ["cron", jobs],
  ]);
  const globalLane = ({ sessionKey, request }: Item): GlobalLane => (sessionKey.includes(":subagent:") ? subagents : (byKind.get(request?.kind) ?? main));
  const all = [main, subagents, nested, webhooks, jobs];
  const taken = new Map<string, Taken>();
  return {
    get running() {
      return all.reduce((sum, { running }) => sum + running, 0);
    },
    async inSlot(item, work) {
      const { sessionKey } = item;
      const lane = globalLane(item);
      const mine: Taken = { lane, slot: await lane.enter(), given: 0 };
      taken.set(sessionKey, mine);
      try {
        await work();
      } finally {
        taken.delete(sessionKey);
        mine.slot[Symbol.dispose]();
      }
    },
    async withoutSlot(sessionKey, signal, work) {
      const mine = taken.get(sessionKey);
      if (!mine) return work();
      mine.given += 1;
      mine.slot[Symbol.dispose]();
      try {
        return await work();
      } finally {
        mine.given -= 1;
        if (mine.given === 0 && !signal.aborted) {
          const slot = await mine.lane.enter();
          // The turn may have ended while it waited.
          if (taken.get(sessionKey) === mine) mine.slot = slot;
          else slot[Symbol.dispose]();
        }
      }
    },
  };
}
