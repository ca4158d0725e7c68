import type { SessionEntry, Usage } from "../../protocol/index.ts";

/** What a run used. */
export interface RunUsage {
  readonly provider: string;
  readonly model: string;
  /** The model's window, in tokens. */
  readonly contextTokens: number;
  /** What each call of the run reported, in order; empty when nothing was. */
  readonly calls: readonly Usage[];
  /** Size of the last prompt, where a provider tells it. */
  readonly promptTokens?: number | undefined;
  /** Only a sum over the run is known: it says nothing about the size of the conversation. */
  readonly sumOnly?: boolean | undefined;
}

type Patch = Readonly<Record<string, unknown>>;

/** Fields of the entry after a run. `totalTokens` is the size of the last prompt: the answer is not counted, and earlier calls are not added. */
export function usageAfterRun({ provider, model, contextTokens, calls, promptTokens, sumOnly }: RunUsage): Patch {
  const facts = { modelProvider: provider, model, contextTokens };
  const last = calls.findLast((call) => call.input + call.cacheRead + call.cacheWrite + call.output > 0);
  if (!last) return facts;
  const add = (field: "input" | "output"): number => calls.reduce((sum, call) => sum + call[field], 0);
  const total = promptTokens ?? (sumOnly ? undefined : last.input + last.cacheRead + last.cacheWrite);
  return { ...facts, inputTokens: add("input"), outputTokens: add("output"), totalTokens: total ?? null, totalTokensFresh: total !== undefined };
}

/** Fields of the entry after a compaction that left so many tokens. */
export function usageAfterCompaction(entry: SessionEntry | undefined, totalTokens: number | undefined): Patch {
  const count = entry?.["compactionCount"];
  return {
    compactionCount: (typeof count === "number" ? count : 0) + 1,
    inputTokens: null,
    outputTokens: null,
    totalTokens: totalTokens ?? null,
    totalTokensFresh: totalTokens !== undefined,
  };
}

/** Tokens in the conversation as far as they are known. */
export function knownTokens(entry: SessionEntry | undefined): number | undefined {
  return entry?.totalTokensFresh === false ? undefined : entry?.totalTokens;
}

/** Tokens of several calls together. */
export interface UsageSum {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly total: number;
}

/** All calls together. */
export function sumUsage(calls: readonly Usage[]): UsageSum {
  const add = (field: "input" | "output" | "cacheRead" | "cacheWrite" | "totalTokens"): number => calls.reduce((sum, call) => sum + call[field], 0);
  return { input: add("input"), output: add("output"), cacheRead: add("cacheRead"), cacheWrite: add("cacheWrite"), total: add("totalTokens") };
}
