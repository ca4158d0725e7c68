import type { Clock } from "./clock.ts";

/** A clock on which a millisecond passes with each look at it: work that is measured with it takes long. */
export function slowClock(): Pick<Clock, "monotonic"> {
  let time = 0;
  return { monotonic: () => (time += 1) };
}

/** How often others got their turn while `work` was done. */
export async function turnsOfOthers<T>(work: () => Promise<T>): Promise<{ readonly result: T; readonly turns: number }> {
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    if (isOver) return;
    turns += 1;
    setImmediate(count);
  };
  setImmediate(count);
  const result = await work();
  isOver = true;
  return { result, turns };
}
