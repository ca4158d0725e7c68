import { lazy } from "../../base/lazy.ts";
import type { ConversationDeps } from "../ports.ts";
import { asksPlugins } from "./message-context.ts";

/** Limits how often plugins are asked again about an input in which the process ended: one that ends every process must not keep the gateway down. */
export interface Attempts {
  /**
   * Call before plugins are asked about inputs that a previous process left. The attempt is on disk when it resolves; false: there were too many. After
   * a process that ended among such inputs they go one at a time, so that an attempt counts for the one that ended it.
   */
  begin(ids: readonly number[]): Promise<boolean>;
  /** Plugins are done with them. */
  passed(ids: readonly number[]): void;
  /** Inputs that were begun and have not passed. */
  readonly open: ReadonlySet<number>;
}

/** Why an input ends that plugins were asked about too often. */
export const EXAMINED_TOO_OFTEN = "interrupted too often while plugins looked at it";
export const EXAMINATION_GIVEN_UP =
  "This message could not be handled: the gateway stopped each time a plugin processed it. The owner can find details in the log.";

const META_KEY = "intake.looks";
const MOST_ATTEMPTS = 3;
const MOST_STORED = 5000;
/** An input that waits for something else, such as a long command, holds up the next one no longer than this. */
const LONGEST_TURN_MS = 30_000;

type Deps = Pick<ConversationDeps, "store" | "hooks" | "internalHooks" | "clock" | "log">;

/** Attempts of the process before this one, by input; those that have ended are of no interest. */
async function attemptsBefore({ store }: Deps): Promise<Map<number, number>> {
  const value = await store.read("meta.get", { key: META_KEY });
  const entries = Array.isArray(value) ? value.filter((one): one is [number, number] => Array.isArray(one) && one.every(Number.isSafeInteger)) : [];
  const states = await Promise.all(entries.map(async ([id]) => (await store.read("inbox.get", { id }))?.state));
  return new Map(entries.filter((_, at) => states[at] === "pending" || states[at] === "claimed"));
}

/** One write at a time: those that come during one share the next. */
function createSaving(save: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> = Promise.resolve();
  let next: Promise<void> | undefined;
  return () =>
    (next ??= running
      .catch(() => {})
      .then(() => {
        next = undefined;
        return (running = save());
      }));
}

export function createAttempts(deps: Deps): Attempts {
  const { store, clock, log } = deps;
  const counts = new Map<number, number>();
  const before = lazy(async () => {
    const found = await attemptsBefore(deps);
    for (const [id, count] of found) counts.set(id, count);
    return found;
  });
  const open = new Set<number>();
  const save = createSaving(() => store.write("meta.set", { key: META_KEY, value: [...counts].slice(-MOST_STORED) }));
  /** Ends of the turns of inputs that go one at a time. */
  const turns = new Map<number, () => void>();
  let last: Promise<void> = Promise.resolve();

  async function takeTurn(id: number): Promise<void> {
    const mine = Promise.withResolvers<void>();
    const earlier = last;
    last = mine.promise;
    await earlier;
    const timer = clock.after(LONGEST_TURN_MS, mine.resolve);
    turns.set(id, () => {
      timer[Symbol.dispose]();
      mine.resolve();
    });
  }

  return {
    open,
    async begin(ids) {
      const [first] = ids;
      if (first === undefined || !asksPlugins(deps)) return true;
      const known = await before();
      for (const id of ids) open.add(id);
      if (known.size > 0) await takeTurn(first);
      const attempts = Math.max(...ids.map((id) => known.get(id) ?? 0));
      if (attempts >= MOST_ATTEMPTS) return false;
      for (const id of ids) counts.set(id, attempts + 1);
      await save();
      return true;
    },
    passed(ids) {
      for (const id of ids) {
        turns.get(id)?.();
        turns.delete(id);
        counts.delete(id);
        open.delete(id);
      }
      if (open.size === 0) save().catch((error: unknown) => log.warn("attempts of messages could not be saved", { error }));
    },
  };
}
