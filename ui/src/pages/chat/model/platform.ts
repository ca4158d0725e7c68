import { randomId } from "../../../base/random-id.ts";

/** What the browser gives a conversation. */
export interface Platform {
  now(): number;
  /** A name that nobody else has. */
  id(): string;
  /** Calls before the next picture; when nobody looks, once in a while. */
  nextFrame(work: () => void): void;
  wait(ms: number, work: () => void): void;
}

const HIDDEN_FRAME_MS = 500;

export const browserPlatform: Platform = {
  now: () => Date.now(),
  id: randomId,
  nextFrame: (work) => void (document.hidden ? setTimeout(work, HIDDEN_FRAME_MS) : requestAnimationFrame(work)),
  wait: (ms, work) => void setTimeout(work, ms),
};
