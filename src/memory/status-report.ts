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

/** The state of an agent's memory in the documented form. */
export function statusReport(agentId: string, workspaceDir: string, memory: MemoryStatus) {
  const { backend, counts, dirty, indexing, issues, settings, qmd } = memory;
  const { provider, model, requestedProvider, fallback, cache, vector, batch, custom, probe } = memory;
  const { sources } = settings;
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
      custom: { ...custom, textBytes: counts.textBytes, ...(probe ? { probe } : {}), ...(qmd ? { qmd } : {}) },
    },
    scan: {
      sources: bySource.map(({ source, files }) => ({ source, totalFiles: files, issues: source === "memory" ? texts : [] })),
      totalFiles: counts.files,
      issues: texts,
    },
  };
}
