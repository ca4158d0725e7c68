/** A number of places that work has to wait for, first come first served. */
export interface GlobalLane {
  /** Resolves with the place; give it back when the work is over. */
  enter(): Promise<Disposable>;
  readonly running: number;
  readonly waiting: number;
}

/** The number is asked each time: it may change while the gateway runs. */
export function createGlobalLane(places: () => number): GlobalLane {
  const queue: (() => void)[] = [];
  let running = 0;

  function admit(): void {
    while (queue.length > 0 && running < Math.max(1, places())) {
      running += 1;
      queue.shift()!();
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
    get waiting() {
      return queue.length;
    },
  };
}
