/** Lets newcomers in a few per turn of the event loop: between two turns, those who are in are served. */
export interface Turnstile {
  /** Calls `enter` now, or in one of the next turns when many came at once. In the order of arrival. `enter` does not throw. */
  pass(enter: () => void): void;
}

export function createTurnstile(perTurn: number): Turnstile {
  let waiting: (() => void)[] = [];
  let left = perTurn;
  let planned = false;

  function plan(): void {
    if (planned) return;
    planned = true;
    setImmediate(turn);
  }

  function turn(): void {
    planned = false;
    const now = waiting.slice(0, perTurn);
    waiting = waiting.slice(perTurn);
    left = perTurn - now.length;
    if (now.length > 0) plan();
    for (const enter of now) enter();
  }

  return {
    pass(enter) {
      plan();
      if (left === 0) {
        waiting.push(enter);
        return;
      }
      left -= 1;
      enter();
    },
  };
}
