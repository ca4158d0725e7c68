/** Work done one after the other, so that answers come in the order of their questions. */
export interface Queue {
  /** Does the work after everything before it. While the same kind waits to begin, there is one of it. */
  coalesced(kind: string, work: () => Promise<void>): Promise<void>;
}

export function createQueue(run: (work: () => Promise<void>) => Promise<void>): Queue {
  const waiting = new Map<string, Promise<void>>();
  let tail: Promise<void> = Promise.resolve();
  return {
    coalesced(kind, work) {
      const known = waiting.get(kind);
      if (known) return known;
      const mine = tail.then(() => {
        waiting.delete(kind);
        return run(work);
      });
      waiting.set(kind, mine);
      tail = mine.catch(() => undefined);
      return mine;
    },
  };
}
