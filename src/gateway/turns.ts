/** Runs tasks of one key one after the other, in the order they came; other keys do not wait. */
export type Turns = <T>(key: string, task: () => Promise<T>) => Promise<T>;

export function createTurns(): Turns {
  const last = new Map<string, Promise<unknown>>();
  return (key, task) => {
    const turn = (last.get(key) ?? Promise.resolve()).then(task, task);
    last.set(key, turn);
    const leave = (): void => {
      if (last.get(key) === turn) last.delete(key);
    };
    turn.then(leave, leave);
    return turn;
  };
}
