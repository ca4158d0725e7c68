import type { CleanPicture } from "./thread/clean-svg.ts";
import type { DiagramKind, Refusal } from "./thread/statements.ts";
import type { Answer } from "./thread/worker.ts";
// oxlint-disable-next-line import/default -- vite makes the address of a thread of it
import drawing from "./thread/worker.ts?worker&url";

export type Drawing =
  | (CleanPicture & { readonly kind: DiagramKind; readonly title: string; readonly left: readonly number[] })
  | { readonly why: Refusal; readonly detail: string };

/** Milliseconds that one diagram may take, once the thread has loaded its code. */
const PATIENCE_MS = 5000;
const START_MS = 20_000;
/** A thread that nobody needs goes, with its memory. */
const IDLE_MS = 30_000;
/** Drawings that are kept: what is scrolled to again is there at once. */
const MOST_KEPT = 40;

interface Job {
  readonly source: string;
  readonly done: (drawn: Drawing) => void;
}

interface TrustedTypes {
  createPolicy(name: string, rules: { createScriptURL(url: string): string }): { createScriptURL(url: string): string };
}

/** Starts the one script that the page runs in a thread. Its address is fixed when the page is built; the policy lets nothing else through. */
function threads(): () => Worker {
  let address: string | undefined;
  return () => {
    const rules = {
      createScriptURL(url: string): string {
        if (url !== drawing) throw new Error(`expected the address of the drawing thread, got ${url}`);
        return url;
      },
    };
    const { trustedTypes } = globalThis as { readonly trustedTypes?: TrustedTypes };
    address ??= trustedTypes ? trustedTypes.createPolicy("openclaw-worker", rules).createScriptURL(drawing) : drawing;
    return new Worker(address);
  };
}

export interface Drawer {
  draw(source: string): Promise<Drawing>;
}

/** Draws one diagram after the other in a thread, which is ended when one takes too long. */
export function createDrawer(start: () => Worker = threads()): Drawer {
  const kept = new Map<string, Promise<Drawing>>();
  const waiting: Job[] = [];
  let thread: Worker | undefined;
  let warm = false;
  let running: Job | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let count = 0;

  function stop(): void {
    clearTimeout(timer);
    thread?.terminate();
    thread = undefined;
    warm = false;
  }

  function end(drawn: Drawing): void {
    clearTimeout(timer);
    const job = running;
    running = undefined;
    job?.done(drawn);
    next();
  }

  function next(): void {
    if (running) return;
    running = waiting.shift();
    if (!running) {
      timer = setTimeout(stop, IDLE_MS);
      return;
    }
    count += 1;
    const id = count;
    const fail = (why: Refusal): void => {
      stop();
      end({ why, detail: "" });
    };
    const limit = (): void => {
      clearTimeout(timer);
      timer = setTimeout(() => fail("time"), warm ? PATIENCE_MS : START_MS);
    };
    try {
      thread ??= start();
    } catch {
      return fail("broken");
    }
    thread.onmessage = ({ data }: MessageEvent<Answer | "ready">) => {
      if (data === "ready") {
        warm = true;
        limit();
      } else if (data.id === id && running !== undefined) end(data);
    };
    thread.onerror = () => fail("broken");
    limit();
    thread.postMessage({ id, source: running.source });
  }

  return {
    draw(source) {
      const known = kept.get(source);
      if (known) return known;
      const { promise, resolve } = Promise.withResolvers<Drawing>();
      kept.set(source, promise);
      if (kept.size > MOST_KEPT) kept.delete(kept.keys().next().value!);
      waiting.push({ source, done: resolve });
      clearTimeout(running ? undefined : timer);
      next();
      return promise;
    },
  };
}
