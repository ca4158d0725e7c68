/** Gives the object that it gave before as long as what is in it stays the same: rows of the log are drawn again with another one. */
export function createSame<T>(): { same(now: T): T } {
  let before: T | undefined;
  let text = "";
  return {
    same(now) {
      const written = JSON.stringify(now);
      if (before !== undefined && written === text) return before;
      [before, text] = [now, written];
      return now;
    },
  };
}
