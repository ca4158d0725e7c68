/** What the browser gives a conversation. */
export interface Platform {
  now(): number;
  /** A name that nobody else has. */
  id(): string;
  /** Calls before the next picture; when nobody looks, once in a while. */
  nextFrame(work: () => void): void;
  wait(ms: number, work: () => void): void;
}

/** `randomUUID` is there only over HTTPS and on this machine. */
function randomId(): string {
  if (typeof crypto.randomUUID === "function") return crypto.randomUUID();
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

const HIDDEN_FRAME_MS = 500;

export const browserPlatform: Platform = {
  now: () => Date.now(),
  id: randomId,
  nextFrame: (work) => void (document.hidden ? setTimeout(work, HIDDEN_FRAME_MS) : requestAnimationFrame(work)),
  wait: (ms, work) => void setTimeout(work, ms),
};
