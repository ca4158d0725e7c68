import type { EmbeddingSettings, EmbeddingStatus } from "./types.ts";

/** Whether there is a provider to embed with. */
export const hasProvider = ({ primary, fallback }: EmbeddingSettings): boolean => primary !== undefined || fallback !== undefined;

/** The status without a provider: nothing of the code that embeds is loaded for it. */
export function statusWithout(settings: EmbeddingSettings, { vectors, cached }: { readonly vectors: number; readonly cached: number }): EmbeddingStatus {
  const { requested, unavailable, batch, cache, vector } = settings;
  return {
    provider: "none",
    requestedProvider: requested,
    vector: { enabled: vector.enabled, available: false, count: vectors, pending: 0, scan: "exact" },
    batch: {
      enabled: false,
      failures: 0,
      limit: 2,
      wait: batch.wait,
      concurrency: batch.concurrency,
      pollIntervalMs: batch.pollIntervalMs,
      timeoutMs: batch.timeoutMinutes * 60_000,
    },
    cache: { enabled: cache.enabled, entries: cached, ...(cache.maxEntries === undefined ? {} : { maxEntries: cache.maxEntries }) },
    custom: { searchMode: "fts-only", ...(unavailable === undefined ? {} : { providerUnavailableReason: unavailable }) },
  };
}
