import type { DatabaseSync, StatementSync } from "node:sqlite";
import { createProjection, type ProjectionProblem } from "../projection/index.ts";
import type { Effect } from "./handlers.ts";
import type { CommitRequest, ReadRequest } from "./messages.ts";

export interface TranscriptFilesDeps {
  readonly db: DatabaseSync;
  readonly sql: (text: string) => StatementSync;
  readonly stateDir: string;
  readonly now: () => number;
  readonly log: (message: string, details?: Readonly<Record<string, unknown>>) => void;
  /** Takes a transcript over from its file to the end, if an import is under way. */
  readonly adopt: (file: string) => void;
  readonly later: (ms: number, fn: () => void) => unknown;
}

/** The JSONL side of the writer: files are checked before the first use of their transcript and follow each commit. */
export interface TranscriptFiles {
  /** Makes sure of every transcript that is about to be written or read. Not inside a transaction. */
  prepare(commits: readonly CommitRequest[], reads: readonly ReadRequest[]): void;
  /** Takes what a durable group did. */
  follow(effects: readonly Effect[]): void;
  /** Writes what waits when it has become much or old; otherwise a little later, when nobody may be waiting for this thread. */
  flush(): void;
  /** Compares a transcript with its file now: another program may have written it. Not inside a transaction. */
  check(file: string): void;
  problems(): readonly ProjectionProblem[];
  close(): void;
}

const FLUSH_LINES = 256;
const FLUSH_MS = 50;
/** A writer that waits for one commit after the other does not wait for files in between. */
const QUIET_MS = 3;

export function createTranscriptFiles(deps: TranscriptFilesDeps): TranscriptFiles {
  const projection = createProjection({ stateDir: deps.stateDir, pid: process.pid, now: deps.now, log: deps.log });
  /** Files that were right when they were first used. Once one is not, the projection is asked each time. */
  const trusted = new Set<string>();
  let waitingSince: number | undefined;
  let lastAppend = 0;
  let timer: unknown;

  function tidOf(file: string): number | undefined {
    return deps.sql("SELECT tid FROM transcripts WHERE file = ?").get(file)?.["tid"] as number | undefined;
  }

  function use(file: unknown): void {
    if (typeof file !== "string" || (trusted.has(file) && projection.problems().length === 0)) return;
    deps.adopt(file);
    const tid = tidOf(file);
    if (tid === undefined) return;
    projection.ensure(deps.db, tid);
    trusted.add(file);
  }

  function write(): void {
    projection.flush();
    waitingSince = undefined;
  }

  /** Waits again while lines keep coming: each batch is one system call, whatever its size. */
  function whenQuiet(): void {
    const now = performance.now();
    if (projection.pending() > 0 && now - lastAppend < QUIET_MS && now - (waitingSince ?? 0) < FLUSH_MS) timer = deps.later(QUIET_MS, whenQuiet);
    else {
      timer = undefined;
      write();
    }
  }

  return {
    prepare(commits, reads) {
      for (const [, , writes] of commits) for (const [kind, input] of writes) if (kind.startsWith("transcripts.")) use((input as { file?: unknown }).file);
      for (const [, kind, input] of reads) if (kind.startsWith("transcripts.")) use((input as { file?: unknown }).file);
    },
    follow(effects) {
      for (const effect of effects) {
        if (effect.kind === "appended") projection.appended(effect.file, effect.startBytes, effect.lines);
        else {
          trusted.delete(effect.file);
          if (effect.kind === "renamed") projection.renamed(effect.file, effect.to);
          else projection.removed(effect.file);
        }
      }
      if (effects.length === 0 || projection.pending() === 0) return;
      lastAppend = performance.now();
      waitingSince ??= lastAppend;
    },
    flush() {
      const lines = projection.pending();
      if (lines === 0) return;
      if (lines >= FLUSH_LINES || performance.now() - (waitingSince ?? 0) >= FLUSH_MS) write();
      else timer ??= deps.later(QUIET_MS, whenQuiet);
    },
    check(file) {
      const tid = tidOf(file);
      if (tid !== undefined) projection.check(deps.db, tid);
    },
    problems: () => projection.problems(),
    close() {
      projection.flush();
      projection.close();
    },
  };
}
