import { existsSync, readdirSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { WriteKind } from "../areas/index.ts";
import { createProjection, transcriptRow, type Projection, type ProjectionProblem } from "../projection/index.ts";
import type { Effect } from "../sqlite/handlers.ts";
import type { CommitRequest, ReadRequest } from "../messages.ts";
import { createUnwrittenFiles } from "./unwritten-files.ts";
import { firstRow, need } from "../rows.ts";
import { isRecord } from "../../base/records.ts";

export interface TranscriptFilesDeps {
  readonly db: DatabaseSync;
  readonly sql: (text: string) => StatementSync;
  readonly stateDir: string;
  readonly now: () => number;
  readonly log: (message: string, details?: Readonly<Record<string, unknown>>) => void;
  /** Imports a transcript completely from its file, if an import is in progress. */
  readonly adopt: (file: string) => void;
  readonly later: (ms: number, fn: () => void) => unknown;
  /** Runs work that no request waits for, unless the store has failed. */
  readonly upkeep: (work: () => void) => void;
}

/** The JSONL files of the writer: they are checked before the first use of their transcript and follow each commit. */
export interface TranscriptFiles {
  /** Checks every transcript that is about to be written or read. Not inside a transaction. */
  prepare(commits: readonly CommitRequest[], reads: readonly ReadRequest[]): void;
  /** Applies the effects of a durable group. */
  follow(effects: readonly Effect[]): void;
  /** Completes all files that are behind, as far as that is possible. Not inside a transaction. */
  completeAll(): void;
  /** Writes pending lines when there are many or old ones; otherwise a little later, when no request may be waiting for this thread. */
  flush(): void;
  /** Imports what another program wrote to the file of a transcript. A missing or compressed file is left as it is. Not inside a transaction. */
  importLines(file: string): void;
  /** Replaces the file of a transcript by a compressed one, in short steps; `done` is called later, true when it was replaced. */
  compress(tid: number, done: (replaced: boolean) => void): Generator<void>;
  /** Compressed files that are being synced. */
  compressing(): number;
  /** Files that are behind, and files with entries of other programs that are not part of the conversation. */
  problems(): readonly ProjectionProblem[];
  close(): void;
}

const FLUSH_LINES = 256;
const FLUSH_MS = 50;
/** Writes that archive or remove a transcript: they do not need its file in readable form. */
const ENDING: ReadonlySet<string> = new Set<WriteKind>(["transcripts.archive", "transcripts.remove"]);
/**
 * A file whose lines are overwritten is removed before the commit and written again after it: a process that is killed in between leaves no copy of
 * what was to be gone, and the next one writes the file from the database.
 */
const OVERWRITING: WriteKind = "transcripts.redact";
/** A writer that waits for one commit after the other does not wait for files in between. */
const QUIET_MS = 3;

const transcriptFacts = ({ sql }: Pick<TranscriptFilesDeps, "sql">, tid: number): { readonly bytes: number; readonly archivedAt: number | null } =>
  need(firstRow(sql("SELECT bytes, archived_at AS archivedAt FROM transcripts WHERE tid = ?"), tid));

const tidIn = ({ sql }: Pick<TranscriptFilesDeps, "sql">, file: string): number | undefined =>
  firstRow<{ tid: number }>(sql("SELECT tid FROM transcripts WHERE file = ?"), file)?.tid;

/** The files that requests use, and whether they are written to. */
function* usedFiles(commits: readonly CommitRequest[], reads: readonly ReadRequest[]): Generator<readonly [file: unknown, writing: boolean]> {
  for (const [, , writes] of commits) {
    for (const [kind, input] of writes) if (kind.startsWith("transcripts.") && "file" in input) yield [input.file, !ENDING.has(kind)];
  }
  for (const [, kind, input] of reads) if (kind.startsWith("transcripts.") && isRecord(input)) yield [input["file"], false];
}

function* overwrittenFiles(commits: readonly CommitRequest[]): Generator<string> {
  for (const [, , writes] of commits) for (const [kind, input] of writes) if (kind === OVERWRITING && "file" in input) yield input.file;
}

/** Without lines that go to a file which is written again as a whole: it has them, too. */
function effectsOnFiles(effects: readonly Effect[]): readonly Effect[] {
  const rewritten = new Set(effects.flatMap(({ kind, file }) => (kind === "rewritten" ? [file] : [])));
  return rewritten.size === 0 ? effects : effects.filter(({ kind, file }) => kind !== "appended" || !rewritten.has(file));
}

const isThere = ({ stateDir }: TranscriptFilesDeps, file: string): boolean => existsSync(join(stateDir, file)) || existsSync(join(stateDir, `${file}.gz`));

/** A process that is killed after it has archived a transcript leaves the file under its former name. */
function finishArchiving(deps: TranscriptFilesDeps, projection: Projection, file: string): void {
  const former = file.replace(/\.(?:reset|deleted)\.[^/]*$/, "");
  if (former !== file && !isThere(deps, file) && isThere(deps, former) && tidIn(deps, former) === undefined) projection.rename(former, file);
}

/** A process that is killed after it has brought a deleted transcript back leaves the file under the name that it had as a deleted one. */
function finishRestoring(deps: TranscriptFilesDeps, projection: Projection, tid: number, file: string): void {
  if (isThere(deps, file)) return;
  const { bytes, archivedAt } = transcriptFacts(deps, tid);
  const folder = join(deps.stateDir, dirname(file));
  if (archivedAt !== null || !existsSync(folder)) return;
  const left = readdirSync(folder).find(
    (name) =>
      name.startsWith(`${basename(file)}.deleted.`) &&
      statSync(join(folder, name), { throwIfNoEntry: false })?.size === bytes &&
      tidIn(deps, `${dirname(file)}/${name}`) === undefined,
  );
  if (left !== undefined) projection.rename(`${dirname(file)}/${left}`, file);
}

export function createTranscriptFiles(deps: TranscriptFilesDeps): TranscriptFiles {
  const projection = createProjection({ stateDir: deps.stateDir, pid: process.pid, now: deps.now, log: deps.log });
  /** Files that were right at their first use. Once one is not, the projection is asked every time. */
  const trusted = new Set<string>();
  let waitingSince: number | undefined;
  let lastAppend = 0;
  let timer: unknown;
  let compressing = 0;

  function use(file: unknown, writing: boolean): void {
    if (typeof file !== "string" || (trusted.has(file) && projection.problems().length === 0)) return;
    deps.adopt(file);
    const tid = tidIn(deps, file);
    if (tid === undefined) return;
    finishArchiving(deps, projection, file);
    finishRestoring(deps, projection, tid, file);
    const report = projection.ensure(deps.db, tid, { writing });
    if (report?.action !== "compressed") trusted.add(file);
  }

  const complete = (file: string): void => use(file, false);
  const unwritten = createUnwrittenFiles({ ...deps, complete, flush: projection.flush, behind: () => projection.problems().map(({ file }) => file) });

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
      for (const [file, writing] of usedFiles(commits, reads)) use(file, writing);
      for (const file of overwrittenFiles(commits)) if (tidIn(deps, file) !== undefined && projection.remove(file)) trusted.delete(file);
    },
    importLines(file) {
      const tid = tidIn(deps, file);
      if (tid !== undefined && existsSync(join(deps.stateDir, file))) projection.check(deps.db, tid, { writing: false });
    },
    *compress(tid, done) {
      const { file } = transcriptRow(deps.db, tid);
      compressing += 1;
      yield* projection.compress(deps.db, tid, (finish) =>
        deps.upkeep(() => {
          compressing -= 1;
          const replaced = finish();
          if (replaced) trusted.delete(file);
          done(replaced);
        }),
      );
    },
    compressing: () => compressing,
    follow(effects) {
      for (const effect of effectsOnFiles(effects)) {
        unwritten.written(effect.kind === "renamed" ? effect.to : effect.file);
        if (effect.kind === "appended") projection.append(effect.file, effect.startBytes, effect.lines);
        else {
          trusted.delete(effect.file);
          if (effect.kind === "renamed") projection.rename(effect.file, effect.to);
          else if (effect.kind === "rewritten") use(effect.file, true);
          else projection.remove(effect.file);
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
    completeAll: unwritten.completeAll,
    problems: () => [...projection.problems(), ...projection.branched()],
    close: projection.close,
  };
}
