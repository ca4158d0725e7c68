import type { ServerResponse } from "node:http";
import type { Clock } from "../../../base/clock.ts";

/** Silence after which a comment is sent, so that proxies keep the connection. */
const KEEP_ALIVE_MS = 15_000;
/** A reader that takes nothing for this long is gone. */
const STALL_MS = 60_000;

/**
 * Server-sent events to one reader. Text for a slow reader is not queued frame by frame: it waits as one text and leaves as one delta,
 * so that a reader costs no more memory than the answer has.
 */
export interface EventStream extends Disposable {
  /** Sends after everything that was sent before. */
  send(data: unknown, event?: string): void;
  /** Adds to the answer; `encode` of the options makes a frame of it, at the latest before the next `send`. */
  delta(text: string): void;
  /** Sends what waits of the answer. */
  flush(): void;
  /** All text that was given to `delta`. */
  readonly text: string;
  /** Sends `[DONE]` and ends the response. */
  done(): void;
}

export interface EventStreamOptions {
  readonly clock: Clock;
  /** The frame of a delta. */
  readonly encode: (delta: string) => { readonly data: unknown; readonly event?: string };
}

/** Starts the response. Disposing stops its timers; it does not end the response. */
export function openEventStream(response: ServerResponse, { clock, encode }: EventStreamOptions): EventStream {
  let text = "";
  /** Kept apart: to cut it off the end of the whole text would copy that for each piece. */
  let waiting = "";
  let blocked = false;
  let quiet: Disposable | undefined;
  let stalled: Disposable | undefined;
  response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", "x-accel-buffering": "no" });
  response.flushHeaders();

  function write(frame: string): void {
    if (response.writableEnded || response.destroyed) return;
    quiet?.[Symbol.dispose]();
    quiet = clock.after(KEEP_ALIVE_MS, () => write(": keep-alive\n\n"));
    if (response.write(frame)) return;
    blocked = true;
    stalled ??= clock.after(STALL_MS, () => response.destroy());
  }
  function send(data: unknown, event?: string): void {
    write(`${event === undefined ? "" : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`);
  }
  function flush(): void {
    if (waiting === "") return;
    const { data, event } = encode(waiting);
    waiting = "";
    send(data, event);
  }
  function onDrain(): void {
    blocked = false;
    stalled?.[Symbol.dispose]();
    stalled = undefined;
    flush();
  }
  response.on("drain", onDrain);
  response.once("close", stop);
  function stop(): void {
    quiet?.[Symbol.dispose]();
    stalled?.[Symbol.dispose]();
    response.off("drain", onDrain);
  }

  return {
    get text() {
      return text;
    },
    delta(more) {
      text += more;
      waiting += more;
      if (!blocked) flush();
    },
    flush,
    send(data, event) {
      flush();
      send(data, event);
    },
    done() {
      flush();
      write("data: [DONE]\n\n");
      response.end();
      stop();
      const last = clock.after(STALL_MS, () => response.destroy());
      response.once("close", () => last[Symbol.dispose]());
    },
    [Symbol.dispose]: stop,
  };
}

/** What is still to be sent of an answer of which `sent` has left; nothing when they differ, for what was sent cannot be taken back. */
export function restOf(answer: string, sent: string): string {
  return answer.startsWith(sent) ? answer.slice(sent.length) : "";
}
