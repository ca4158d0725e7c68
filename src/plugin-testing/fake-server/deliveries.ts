/** How a fake platform brings its events: in order, again until each is taken, and with the faults that real platforms have. */
import { setTimeout as delay } from "node:timers/promises";

export interface DeliveriesOptions<E> {
  /** Brings an event once. True: it was taken, such as a request to a webhook that is answered with 200. `attempt` is different for each call. */
  send(event: E, attempt: number): boolean | Promise<boolean>;
  /** Milliseconds until an event that was not taken is brought again. Default 100. */
  readonly againMs?: number | undefined;
}

export interface Deliveries<E> extends Disposable {
  /** Brings an event behind those of the same lane. Resolves when it is taken. */
  deliver(event: E, lane?: string): Promise<void>;
  /** Brings an event again, so many times at once (default 5), although it was taken. Resolves when each of them is. */
  redeliver(event: E, times?: number): Promise<void>;
  /** What `act` delivers goes out when it returns, the last first. Resolves when all of it is taken. */
  reorder(act: () => void): Promise<void>;
}

const REDELIVERIES = 5;

/** Disposing of them ends what is still brought again. */
export function createDeliveries<E>({ send, againMs = 100 }: DeliveriesOptions<E>): Deliveries<E> {
  const over = new AbortController();
  const lanes = new Map<string, Promise<void>>();
  let held: (() => Promise<void>)[] | undefined;
  let attempts = 0;

  async function untilTaken(event: E): Promise<void> {
    while (!over.signal.aborted) {
      if (await send(event, (attempts += 1))) return;
      await delay(againMs, undefined, { signal: over.signal }).catch(() => {});
    }
  }

  function inLane(event: E, lane: string): Promise<void> {
    const next = (lanes.get(lane) ?? Promise.resolve()).then(() => untilTaken(event));
    lanes.set(lane, next);
    return next;
  }

  return {
    deliver(event, lane = "") {
      if (!held) return inLane(event, lane);
      const { promise, resolve } = Promise.withResolvers<void>();
      held.push(() => inLane(event, lane).then(resolve));
      return promise;
    },
    async redeliver(event, times = REDELIVERIES) {
      await Promise.all(Array.from({ length: times }, () => untilTaken(event)));
    },
    async reorder(act) {
      held = [];
      try {
        act();
      } finally {
        const bring = held.toReversed();
        held = undefined;
        await Promise.all(bring.map((one) => one()));
      }
    },
    [Symbol.dispose]: () => over.abort(),
  };
}
