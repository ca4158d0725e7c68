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
export function statusReport(agentId: string, workspaceDir: string, { counts, dirty, indexing, issues, settings }: MemoryStatus) {
  const { written, sources } = settings;
  const requested = written.provider ?? "auto";
  const texts = issues.map(({ path, why }) => `${path}: ${why}`);
  const bySource = sources.map((source) => counts.bySource.find((row) => row.source === source) ?? { source, files: 0, chunks: 0 });
  return {
    agentId,
    status: {
      backend: "builtin" as const,
      files: counts.files,
      chunks: counts.chunks,
      dirty,
      indexing,
      enabled: settings.enabled,
      workspaceDir,
      dbPath: settings.file,
      dbBytes: counts.bytes,
      provider: "none",
      requestedProvider: requested,
      sources: [...sources],
      extraPaths: [...settings.extraPaths],
      sourceCounts: bySource.map(({ source, files, chunks }) => ({ source, files, chunks })),
      cache: {
        enabled: written.cache?.enabled !== false,
        entries: counts.cached,
        ...(written.cache?.maxEntries === undefined ? {} : { maxEntries: written.cache.maxEntries }),
      },
      fts: { enabled: true, available: true },
      vector: { enabled: written.store?.vector?.enabled !== false, available: counts.vectors > 0, vectors: counts.vectors },
      batch: { enabled: written.remote?.batch?.enabled === true },
      custom: { searchMode: counts.vectors > 0 ? "hybrid" : "fts-only", ranker: "learned", textBytes: counts.textBytes },
    },
    scan: {
      sources: bySource.map(({ source, files }) => ({ source, totalFiles: files, issues: source === "memory" ? texts : [] })),
      totalFiles: counts.files,
      issues: texts,
    },
  };
}
