import type { ServerResponse } from "node:http";
import type { Answer, Dispatcher } from "./methods/index.ts";

/** Lets requests in and counts those that are not answered yet. */
export interface Intake extends Disposable {
  /** The dispatcher as connections see it. */
  readonly dispatcher: Dispatcher;
  /** Counts an HTTP request until its connection is done with it. */
  track(response: ServerResponse): void;
  /** Requests without an answer. */
  readonly running: number;
  readonly closed: boolean;
  /**
   * Lets nothing in from now on. What still comes is not answered: its connection is closed next, and a client that gave its request a key sends it
   * again when it is back, without asking anybody.
   */
  close(): void;
}

const STOPPED: Answer = { ok: false, error: { code: "UNAVAILABLE", message: "the gateway is restarting; send it again", retryable: true } };

/** Disposing, after the connections are gone, ends what was left waiting. */
export function createIntake(dispatcher: Dispatcher): Intake {
  const over = Promise.withResolvers<Answer>();
  let running = 0;
  let closed = false;
  return {
    dispatcher: {
      get advertised() {
        return dispatcher.advertised;
      },
      async call(method, params, context) {
        if (closed) return over.promise;
        running += 1;
        try {
          return await dispatcher.call(method, params, context);
        } finally {
          running -= 1;
        }
      },
    },
    track(response) {
      running += 1;
      response.once("close", () => (running -= 1));
    },
    get running() {
      return running;
    },
    get closed() {
      return closed;
    },
    close() {
      closed = true;
    },
    [Symbol.dispose]: () => over.resolve(STOPPED),
  };
}
