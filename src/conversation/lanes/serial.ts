/** Work that goes on one after the other under one name, and side by side under different ones. */
export interface Lanes {
  /** Runs it when what was queued under the name before is over. It must not reject. */
  queue(name: string, work: () => Promise<void>): void;
  /** The same for work whose end is waited for. */
  exclusively<T>(name: string, work: () => Promise<T>): Promise<T>;
  /** Resolves when nothing is queued any more. */
  idle(): Promise<void>;
}

export function createLanes(): Lanes {
  const lanes = new Map<string, Promise<void>>();

  function queue(name: string, work: () => Promise<void>): void {
    const before = lanes.get(name) ?? Promise.resolve();
    const lane = before.then(work).finally(() => lanes.get(name) === lane && lanes.delete(name));
    lanes.set(name, lane);
  }

  return {
    queue,
    exclusively: (name, work) =>
      new Promise((resolve, reject) => {
        queue(name, () => work().then(resolve, reject));
      }),
    async idle() {
      while (lanes.size > 0) await Promise.all(lanes.values());
    },
  };
}
