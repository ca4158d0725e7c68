import type { Link } from "../../link/link.ts";
import { failureText } from "../../link/failure.ts";
import type { Answer } from "./memory-facts.ts";

/** What is known of the question that is asked now. */
export interface SearchState {
  readonly query: string;
  readonly answer?: Answer | undefined;
  readonly busy: boolean;
  readonly failure?: string | undefined;
}

/** A search whose last question alone counts. */
export interface MemorySearch extends Disposable {
  readonly state: SearchState;
  ask(agentId: string, query: string): Promise<void>;
}

const MOST_RESULTS = 30;
/** Weaker results help nobody. */
const LEAST_SCORE = 0.05;
/** While the index is being made, the question is asked again. */
const AGAIN_MS = 1500;

export function createMemorySearch(link: Pick<Link, "request">, changed: () => void): MemorySearch {
  let state: SearchState = { query: "", busy: false };
  let asking: AbortController | undefined;
  let again: ReturnType<typeof setTimeout> | undefined;
  const set = (next: SearchState): void => {
    state = next;
    changed();
  };
  const stop = (): void => {
    asking?.abort();
    clearTimeout(again);
  };

  async function ask(agentId: string, query: string): Promise<void> {
    stop();
    if (query === "") return set({ query, busy: false });
    const mine = (asking = new AbortController());
    // The last answer stays until there is a new one: a list that empties with every letter flickers.
    set({ query, answer: state.answer, busy: true });
    try {
      const params = { agentId, query, maxResults: MOST_RESULTS, minScore: LEAST_SCORE, explain: true };
      const answer = await link.request("memory.search", params, { signal: mine.signal });
      if (mine.signal.aborted) return;
      set({ query, answer, busy: false });
      if (answer.indexing) again = setTimeout(() => void ask(agentId, query), AGAIN_MS);
    } catch (error) {
      if (!mine.signal.aborted) set({ query, busy: false, failure: failureText(error) });
    }
  }

  return {
    get state() {
      return state;
    },
    ask,
    [Symbol.dispose]: stop,
  };
}
