import type { Io } from "../../io.ts";

/** A line that stands on a terminal while something is waited for, and goes with it. */
export function busy(io: Io, text: string): Disposable {
  if (io.interactive) io.redraw?.(`${text} …`);
  return { [Symbol.dispose]: () => (io.interactive ? io.redraw?.("") : undefined) };
}
