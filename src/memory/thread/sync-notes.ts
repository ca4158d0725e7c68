import type { Language } from "../text/languages.ts";
import { LANGUAGES } from "../text/languages.ts";
import { chunksOf, dayOfPath, type ChunkSizes } from "./chunks.ts";
import type { IndexDatabase } from "../storage/database.ts";
import { findNotes, readNote, type NoteFile, type NoteIssue, type NoteRoots } from "./note-files.ts";
import type { Passages } from "../storage/passages.ts";

/** Work in steps: between two of them the thread answers questions. */
export type Steps<T = void> = Generator<void, T>;

interface DocumentRow {
  readonly id: number;
  readonly path: string;
  readonly hash: string | null;
  readonly mtime: number | null;
  readonly size: number | null;
}

export interface NotesSync {
  readonly index: IndexDatabase;
  readonly passages: Passages;
  readonly roots: NoteRoots;
  readonly chunking: ChunkSizes;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

export interface NotesReport {
  readonly files: number;
  readonly changed: number;
  readonly removed: number;
  readonly issues: readonly NoteIssue[];
  /** Some were being written: look again soon. */
  readonly again: boolean;
}

/** A file that was written this shortly before it was read may have changed again within the same tick of its clock. */
const FRESH_MS = 2000;

const documentsOf = (index: IndexDatabase): ReadonlyMap<string, DocumentRow> =>
  new Map(
    (index.sql("SELECT id, path, hash, mtime, size FROM documents WHERE source = 'memory'").all() as unknown as DocumentRow[]).map((row) => [row.path, row]),
  );

export function removeDocument({ index, passages }: Pick<NotesSync, "index" | "passages">, id: number): void {
  inTransaction({ index, passages }, () => {
    passages.remove(id);
    index.sql("DELETE FROM documents WHERE id = ?").run(id);
  });
}

/** Changes passages and their counts together. Inside of another it is a part of that one. */
export function inTransaction<T>({ index, passages }: Pick<NotesSync, "index" | "passages">, work: () => T): T {
  if (index.db.isTransaction) return work();
  try {
    return index.transaction(() => {
      const result = work();
      passages.flush();
      return result;
    });
  } catch (error) {
    passages.reset();
    throw error;
  }
}

/** What a look at one file led to. */
export type Outcome = "same" | "changed" | "removed" | "again" | { readonly why: string };

/** Brings the passages of one file up to date. */
export function syncNote(sync: NotesSync, note: Pick<NoteFile, "path" | "file">, known: DocumentRow | undefined): Outcome {
  const { index, passages, chunking, now } = sync;
  const read = readNote(note.file);
  if (read.kind === "changing") return "again";
  if (read.kind !== "read") {
    if (known) removeDocument(sync, known.id);
    return read.kind === "skip" ? { why: read.why } : known ? "removed" : "same";
  }
  // Taken as not seen: the next look compares the content again.
  const mtime = now() - read.mtime < FRESH_MS ? null : read.mtime;
  if (known?.hash === read.hash) {
    index.sql("UPDATE documents SET mtime = ?, size = ? WHERE id = ?").run(mtime, read.size, known.id);
    return "same";
  }
  inTransaction(sync, () => {
    if (known) passages.remove(known.id);
    const id = known?.id ?? Number(index.sql("INSERT INTO documents (source, path) VALUES ('memory', ?)").run(note.path).lastInsertRowid);
    const language: Language = "en";
    const at = dayOfPath(note.path);
    const added = passages.add({ id, language, passages: 0 }, chunksOf(read.content, chunking, at));
    index
      .sql("UPDATE documents SET hash = ?, mtime = ?, size = ?, passages = ?, language = ? WHERE id = ?")
      .run(read.hash, mtime, read.size, added.passages, LANGUAGES.indexOf(added.language), id);
  });
  return "changed";
}

export const knownNote = (index: IndexDatabase, path: string): DocumentRow | undefined =>
  index.sql("SELECT id, path, hash, mtime, size FROM documents WHERE source = 'memory' AND path = ?").get(path) as DocumentRow | undefined;

/** Follows the files: new and changed ones are indexed, what is gone is removed. With `force` every file is read, whatever its time says. */
export function* syncNotes(sync: NotesSync, force = false): Steps<NotesReport> {
  const issues: NoteIssue[] = [];
  const known = documentsOf(sync.index);
  const left = new Map(known);
  const report = { files: 0, changed: 0, removed: 0, again: false };
  for (const note of findNotes(sync.roots, issues)) {
    yield;
    if (!note) continue;
    const before = known.get(note.path);
    left.delete(note.path);
    report.files += 1;
    if (!force && before?.mtime === note.mtime && before.size === note.size) continue;
    const outcome = syncNote(sync, note, knownNote(sync.index, note.path));
    if (outcome === "changed") report.changed += 1;
    else if (outcome === "again") report.again = true;
    else if (typeof outcome === "object") {
      report.files -= 1;
      issues.push({ path: note.path, why: outcome.why });
    }
  }
  for (const { id } of left.values()) {
    removeDocument(sync, id);
    report.removed += 1;
    yield;
  }
  return { ...report, issues };
}
