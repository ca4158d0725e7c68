import type { DatabaseSync } from "node:sqlite";
import { firstRow } from "../rows.ts";

/** Progress of one import source: a row of `imports`. */
export interface SourceProgress<Detail = Readonly<Record<string, unknown>>> {
  /** `pending` and `partial` continue, `failed` is tried again at the next start, `done` is final. */
  readonly state: "pending" | "partial" | "failed" | "done";
  readonly detail: Detail;
}

/** `Detail` is what the import of this kind of source has recorded. */
export function progressOf<Detail = SourceProgress["detail"]>(db: DatabaseSync, source: string): SourceProgress<Detail> | undefined {
  const row = firstRow<{ state: SourceProgress["state"]; detail: string | null }>(db.prepare("SELECT state, detail FROM imports WHERE source = ?"), source);
  return row && { state: row.state, detail: JSON.parse(row.detail ?? "{}") };
}

/** Runs in the same transaction as the imported rows. */
export function recordProgress(
  db: DatabaseSync,
  source: string,
  file: { readonly size: number; readonly mtimeMs: number },
  progress: SourceProgress,
  at: number,
): void {
  db.prepare("INSERT OR REPLACE INTO imports (source, size, mtime, state, detail, at) VALUES (?, ?, ?, ?, ?, ?)").run(
    source,
    file.size,
    Math.trunc(file.mtimeMs),
    progress.state,
    JSON.stringify(progress.detail),
    at,
  );
}

/** Sources in any of these states. */
export function sourcesIn(db: DatabaseSync, ...states: readonly SourceProgress["state"][]): string[] {
  const marks = states.map(() => "?").join(", ");
  return db
    .prepare(`SELECT source FROM imports WHERE state IN (${marks}) ORDER BY source`)
    .all(...states)
    .map((row) => String(row["source"]));
}
