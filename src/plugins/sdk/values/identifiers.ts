/** Ids and tokens that nobody can guess, and work in order. */
import { randomBytes, randomUUID } from "node:crypto";

export const generateSecureUuid = (): string => randomUUID();
export const generateSecureToken = (bytes = 32): string => randomBytes(bytes).toString("base64url");

/** One task after the other for each key; different keys do not wait for each other. */
export class KeyedAsyncQueue {
  readonly #tails = new Map<string, Promise<unknown>>();

  enqueue<T>(key: string, task: () => Promise<T> | T): Promise<T> {
    const run = (this.#tails.get(key) ?? Promise.resolve()).then(task, task);
    const tail = run.then(
      () => {},
      () => {},
    );
    this.#tails.set(key, tail);
    void tail.then(() => {
      if (this.#tails.get(key) === tail) this.#tails.delete(key);
    });
    return run;
  }

  get size(): number {
    return this.#tails.size;
  }
}
