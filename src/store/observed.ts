import type { Write } from "./areas/index.ts";
import type { Store } from "./store.ts";

/** A store that reports what was written. */
export interface ObservedStore extends Store {
  /** Called with the writes of each commit once they are on disk, before the commit resolves. It must not throw, and it must be quick. */
  onCommit(listener: (writes: readonly Write[]) => void): Disposable;
}

/** Adds a commit listener to a store. Reads pass straight through. */
export function observeCommits(store: Store): ObservedStore {
  const listeners = new Set<(writes: readonly Write[]) => void>();
  function notifyAfter<T>(done: Promise<T>, writes: readonly Write[]): Promise<T> {
    if (listeners.size === 0) return done;
    return done.then((results) => {
      for (const listener of listeners) listener(writes);
      return results;
    });
  }
  return {
    ...store,
    commit: (writes, options) => notifyAfter(store.commit(writes, options), writes),
    write: (kind, input, options) => notifyAfter(store.write(kind, input, options), [[kind, input] as unknown as Write]),
    onCommit(listener) {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
  };
}
