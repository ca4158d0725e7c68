import { nextState, type Failed, type RestRules } from "./rest.ts";
import type { AuthDocument, FailureState, ModelFailures } from "./store/document.ts";

/** Rests after trouble that passes by itself: at most a minute long, and gone with the process. */
export interface PassingRests {
  failed(failure: Failed, rules: RestRules): void;
  /** The model answered: nothing is held against it any more. */
  succeeded(id: string, modelId: string): void;
  /** Of these credentials; of all without a list. */
  clear(ids?: readonly string[]): void;
  /** The document with what rests now added to its failures. */
  over(document: AuthDocument, now: number): AuthDocument;
}

interface Noted extends Pick<Failed, "id" | "modelId" | "kind"> {
  readonly state: FailureState;
}

export function createPassingRests(): PassingRests {
  const noted = new Map<string, Noted>();
  const drop = (which: (one: Noted) => boolean): void => {
    for (const [key, one] of noted) if (which(one)) noted.delete(key);
  };
  return {
    failed(failure, rules) {
      const { id, modelId, kind } = failure;
      const key = JSON.stringify([id, modelId, kind]);
      noted.set(key, { id, modelId, kind, state: nextState(noted.get(key)?.state, failure, rules) });
    },
    succeeded: (id, modelId) => drop((one) => one.id === id && one.modelId === modelId),
    clear: (ids) => drop(({ id }) => ids === undefined || ids.includes(id)),
    over(document, now) {
      drop(({ state }) => state.until <= now);
      if (noted.size === 0) return document;
      const modelFailures: Record<string, ModelFailures[string]> = { ...document.modelFailures };
      for (const { id, modelId, kind, state } of noted.values()) {
        const models = modelFailures[id] ?? {};
        modelFailures[id] = { ...models, [modelId]: { ...models[modelId], [kind]: state } };
      }
      return { ...document, modelFailures };
    },
  };
}
