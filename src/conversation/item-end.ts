import type { RunOutcome } from "./contract.ts";

/** Ends an item early. Thousands may wait, and a signal is large: it is made when it is asked for. */
export class Abort {
  #controller: AbortController | undefined;
  #isAborted = false;

  get aborted(): boolean {
    return this.#isAborted;
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#isAborted) this.#controller.abort();
    return this.#controller.signal;
  }

  abort(): void {
    this.#isAborted = true;
    this.#controller?.abort();
  }
}

/** The end of an item. The promise is made when it is asked for. */
export class End {
  #outcome: RunOutcome | undefined;
  #waiting: PromiseWithResolvers<RunOutcome> | undefined;

  get promise(): Promise<RunOutcome> {
    this.#waiting ??= Promise.withResolvers();
    if (this.#outcome) this.#waiting.resolve(this.#outcome);
    return this.#waiting.promise;
  }

  resolve(outcome: RunOutcome): void {
    this.#outcome ??= outcome;
    this.#waiting?.resolve(this.#outcome);
  }
}
