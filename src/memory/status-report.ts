import { stat } from "node:fs/promises";
import type { MemoryStatus } from "./create-memory.ts";

/** When an index was last written; undefined while there is none. */
export async function indexTime(file: string): Promise<number | undefined> {
  const times = await Promise.all(
    [file, `${file}-wal`].map((name) =>
      stat(name).then(
        ({ mtimeMs }) => Math.floor(mtimeMs),
        () => 0,
      ),
    ),
  );
  return Math.max(...times) || undefined;
}

const WHAT_TO_DO: readonly (readonly [cause: RegExp, advice: (facts: { readonly provider: string; readonly url: string }) => string])[] = [
  [/API key|status 40[13]/i, ({ provider }) => `check the key: openclaw models auth add --provider ${provider}`],
  [/status 404/, ({ url }) => `check memorySearch.model and the URL ${url}`],
  [/status 429/, ({ provider }) => `${provider} limits requests: wait, or set another provider in memorySearch.fallback`],
  [/dimensions/, () => "rebuild the index: openclaw memory index --force"],
  [/takes longer than/, () => "no action needed if it is only slow now; otherwise choose another provider in memorySearch.provider"],
  [/node-llama-cpp/, () => "npm install node-llama-cpp --prefix ~/.openclaw"],
  [/ENOTFOUND|ECONN|EHOSTUNREACH|ETIMEDOUT|refused|reach|timed out|fetch/i, ({ url }) => `check that ${url || "the provider"} is reachable from this machine`],
];

/** What a person can do about embeddings that do not work; undefined while they do, or where none were asked for. */
export function embeddingAdvice({ provider, requestedProvider, custom }: Pick<MemoryStatus, "provider" | "requestedProvider" | "custom">): string | undefined {
  const { providerUnavailableReason: reason, providerUrl: url = "" } = custom;
  if (reason === undefined || (provider === "none" && requestedProvider === "auto")) return undefined;
  const named = provider === "none" ? requestedProvider : provider;
  const found = WHAT_TO_DO.find(([cause]) => cause.test(reason))?.[1]({ provider: named, url });
  // A reason that already names the command needs no second one.
  return found === undefined || reason.includes("openclaw models auth add") ? "check that it works: openclaw memory status --deep" : found;
}

/** The state of an agent's memory in the documented form. */
export function statusReport(agentId: string, workspaceDir: string, memory: MemoryStatus) {
  const { backend, counts, dirty, indexing, left, issues, settings, qmd } = memory;
  const { provider, model, requestedProvider, fallback, cache, vector, batch, custom, probe } = memory;
  const { sources } = settings;
  const advice = embeddingAdvice(memory);
  const texts = issues.map(({ path, why }) => `${path}: ${why}`);
  const bySource = sources.map((source) => counts.bySource.find((row) => row.source === source) ?? { source, files: 0, chunks: 0 });
  return {
    agentId,
    status: {
      backend,
      files: counts.files,
      chunks: counts.chunks,
      dirty,
      indexing,
      enabled: settings.enabled,
      workspaceDir,
      dbPath: settings.file,
      dbBytes: counts.bytes,
      provider,
      ...(model === undefined ? {} : { model }),
      requestedProvider,
      sources: [...sources],
      extraPaths: [...settings.extraPaths],
      sourceCounts: bySource.map(({ source, files, chunks }) => ({ source, files, chunks })),
      cache: { ...cache },
      fts: { enabled: true, available: true },
      vector: { ...vector },
      batch: { ...batch },
      ...(fallback ? { fallback } : {}),
      custom: {
        ...custom,
        textBytes: counts.textBytes,
        pendingLines: left,
        ...(advice === undefined ? {} : { advice }),
        ...(probe ? { probe } : {}),
        ...(qmd ? { qmd } : {}),
      },
    },
    scan: {
      sources: bySource.map(({ source, files }) => ({ source, totalFiles: files, issues: source === "memory" ? texts : [] })),
      totalFiles: counts.files,
      issues: texts,
    },
  };
}
