import type { Clock } from "../../base/clock.ts";

/** A node's connection, as far as it is watched. */
export interface Watched {
  /** Asks the other side for a sign of life. */
  ping(): void;
  /** Ends the connection without waiting for the other side. */
  cutOff(): void;
}

/** Finds nodes that are gone without a word: a machine that lost its power or its network closes nothing. */
export interface Liveness extends Disposable {
  watch(node: Watched): void;
  /** Something came from it. */
  heard(node: Watched): void;
  forget(node: Watched): void;
}

const EVERY_MS = 9000;
/** Pings without an answer after which a node is gone: found within 30 s. */
const MOST_MISSED = 2;

/** One timer for all nodes, and none while there are no nodes. */
export function createLiveness({ clock }: { readonly clock: Pick<Clock, "after"> }): Liveness {
  const missed = new Map<Watched, number>();
  let timer: Disposable | undefined;

  function look(): void {
    timer = undefined;
    for (const [node, count] of missed) {
      if (count >= MOST_MISSED) node.cutOff();
      else {
        missed.set(node, count + 1);
        node.ping();
      }
    }
    arm();
  }

  function arm(): void {
    if (missed.size > 0) timer ??= clock.after(EVERY_MS, look);
  }

  return {
    watch(node) {
      missed.set(node, 0);
      arm();
    },
    heard(node) {
      if (missed.has(node)) missed.set(node, 0);
    },
    forget(node) {
      missed.delete(node);
      if (missed.size > 0) return;
      timer?.[Symbol.dispose]();
      timer = undefined;
    },
    [Symbol.dispose]() {
      missed.clear();
      timer?.[Symbol.dispose]();
    },
  };
}
