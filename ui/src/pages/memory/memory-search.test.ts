import { expect, test } from "vitest";
import type { Link } from "../../link/link.ts";
import type { Answer } from "./memory-facts.ts";
import { createMemorySearch } from "./memory-search.ts";

const answer = (path: string): Answer => ({
  agentId: "main",
  timeZone: "UTC",
  results: [{ path, startLine: 1, endLine: 1, score: 1, snippet: "", source: "memory" }],
  mode: "fts-only",
  ranker: "learned",
  indexing: false,
  ms: 1,
});

interface Asked {
  readonly query: string;
  readonly signal: AbortSignal | undefined;
  readonly settle: PromiseWithResolvers<Answer>;
}

/** A gateway whose answers come when they are let out. */
function held(): { readonly link: Pick<Link, "request">; readonly asked: readonly Asked[] } {
  const asked: Asked[] = [];
  const request = (_: string, { query }: { readonly query: string }, options?: { readonly signal?: AbortSignal }): Promise<Answer> => {
    const settle = Promise.withResolvers<Answer>();
    asked.push({ query, signal: options?.signal, settle });
    return settle.promise;
  };
  return { link: { request: request as unknown as Link["request"] }, asked };
}

test("an answer to an older question is never shown, in whichever order they come", async () => {
  const { link, asked } = held();
  using search = createMemorySearch(link, () => undefined);
  const first = search.ask("main", "a");
  const second = search.ask("main", "ab");
  expect(asked[0]!.signal?.aborted).toBe(true);
  asked[1]!.settle.resolve(answer("new.md"));
  await second;
  asked[0]!.settle.resolve(answer("old.md"));
  await first;
  expect(search.state).toMatchObject({ query: "ab", busy: false, answer: { results: [{ path: "new.md" }] } });
});

test("a failure is shown and asking again clears it; nothing is asked for nothing", async () => {
  const { link, asked } = held();
  using search = createMemorySearch(link, () => undefined);
  const failing = search.ask("main", "a");
  asked[0]!.settle.reject(new Error("the memory is closed"));
  await failing;
  expect(search.state.failure).toBe("The memory is closed");
  const again = search.ask("main", "a");
  expect(search.state.busy).toBe(true);
  expect(search.state.failure).toBeUndefined();
  asked[1]!.settle.resolve(answer("a.md"));
  await again;
  await search.ask("main", "");
  expect(search.state).toEqual({ query: "", busy: false });
  expect(asked).toHaveLength(2);
});
