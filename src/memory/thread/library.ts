import { closeSync, fsyncSync, lstatSync, openSync, renameSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { inspectStore, type Inspection } from "../../store/index.ts";
import { search, type SearchDeps } from "../search/search.ts";
import type { DocumentFacts } from "../search/present.ts";
import { fixedRanker, type Ranker } from "../search/ranker.ts";
import type { Analyser } from "../text/analyser.ts";
import type { Concepts } from "../text/concepts.ts";
import type { IndexCounts, NoteIssue, SearchAnswer, SearchRequest, Source, SyncReport } from "../types.ts";
import { createIndex, openIndex, removeIndex, type IndexDatabase } from "./database.ts";
import { createPassages, type Passages, type StoredPassage } from "./passages.ts";
import { knownNote, removeDocument, syncNote, syncNotes, type NotesSync, type Steps } from "./sync-notes.ts";
import { watchNotes } from "./watch-notes.ts";
import { isInTranscript, syncTranscript, syncTranscripts, type TranscriptsSync } from "./sync-transcripts.ts";

/** The memory of one agent: where it is, and what belongs to it. */
export interface LibrarySettings {
  readonly agentId: string;
  /** The index. */
  readonly file: string;
  readonly stateDir: string;
  readonly workspace: string;
  readonly extraPaths: readonly string[];
  readonly sources: readonly Source[];
  readonly chunking: { readonly tokens: number; readonly overlap: number };
  readonly watch: boolean;
  readonly watchDebounceMs: number;
}

export interface LibraryDeps {
  readonly analyser: Analyser;
  readonly concepts: Concepts;
  readonly learned: Ranker | undefined;
  readonly now: () => number;
  /** Notes changed and then stayed as they are for a while. */
  readonly changed: (library: Library) => void;
  readonly notice: (message: string) => void;
}

/** One index while it is open. */
interface Shelf {
  readonly index: IndexDatabase;
  readonly passages: Passages;
}

export interface Library extends Disposable {
  readonly settings: LibrarySettings;
  /** What is not indexed yet, besides transcripts that grew. */
  readonly isComplete: boolean;
  /** Transcripts that grew since the last look. Undefined: any may have changed. */
  touched(files: readonly string[] | undefined): void;
  notesChanged(): void;
  readonly isDirty: boolean;
  readonly isNotesDirty: boolean;
  /** Follows the notes alone. */
  syncNotes(): Steps;
  /** Indexes transcripts that grew; quick unless much is new. */
  catchUp(): Steps;
  /** Follows all sources. With `rebuild` into a new index that replaces this one when it is complete. */
  sync(options?: { readonly rebuild?: boolean | undefined; readonly force?: boolean | undefined }): Steps<SyncReport>;
  search(request: SearchRequest, vectors?: ReadonlyMap<number, number>): SearchAnswer;
  counts(): IndexCounts;
  readonly issues: readonly NoteIssue[];
  /** The transcripts, as they are now. */
  reading(): Inspection | undefined;
  /** Removes transcripts from the index: the next look indexes them again. */
  forget(files: readonly string[]): void;
  /** The index in use, for the parts that keep embeddings. */
  readonly shelf: Shelf;
  /** Closes the index and deletes it. */
  discard(): void;
}

const UNWATCHED_LOOK_MS = 100;

const temporary = (file: string): string => `${file}.new`;

export function openLibrary(settings: LibrarySettings, deps: LibraryDeps): Library {
  const { analyser, concepts, learned, now } = deps;
  const { file, chunking, agentId } = settings;
  const stamp = { chunkTokens: chunking.tokens, chunkOverlap: chunking.overlap };
  const shelfOf = (index: IndexDatabase): Shelf => ({ index, passages: createPassages(index, analyser) });
  const fixed = fixedRanker();
  const roots = { workspace: settings.workspace, extraPaths: settings.extraPaths };
  let store: Inspection | undefined;
  let grown = new Set<string>();
  let anyGrown = true;
  let notesDirty = true;
  let complete = false;
  let issues: readonly NoteIssue[] = [];
  let lastLook = Number.NEGATIVE_INFINITY;

  removeIndex(temporary(file));
  /** Set while the index in use is one that is still being made beside the old one. */
  let isNew = false;
  let shelf = shelfOf(open());

  function open(): IndexDatabase {
    const opened = openIndex(file, stamp);
    if (opened.kind === "current") return opened.index;
    if (opened.kind === "outdated") {
      deps.notice(`the memory index of agent ${agentId} is made again: ${opened.why}`);
      isNew = true;
      return createIndex(temporary(file), stamp, true);
    }
    if (opened.kind === "damaged") deps.notice(`the memory index of agent ${agentId} was damaged and is made again: ${opened.why}`);
    return createIndex(file, stamp);
  }

  function inspected(): Inspection | undefined {
    store ??= inspectStore(settings.stateDir);
    store?.renew();
    return store;
  }

  const notesSync = ({ index, passages }: Shelf): NotesSync => ({
    index,
    passages,
    roots,
    chunking,
    now,
  });
  const transcriptsSync = ({ index, passages }: Shelf, reading: Inspection): TranscriptsSync => ({ index, passages, store: reading, agentId });

  function* follow(target: Shelf, force: boolean): Steps<Omit<SyncReport, "ms">> {
    const report = { files: 0, changed: 0, removed: 0, messages: 0 };
    if (settings.sources.includes("memory")) {
      notesDirty = false;
      const notes = yield* syncNotes(notesSync(target), force);
      issues = notes.issues;
      if (notes.again) notesDirty = true;
      Object.assign(report, { files: notes.files, changed: notes.changed, removed: notes.removed });
    }
    if (settings.sources.includes("sessions")) {
      const reading = inspected();
      anyGrown = false;
      grown = new Set();
      if (reading) {
        const { added, removed } = yield* syncTranscripts(transcriptsSync(target, reading));
        report.messages = added;
        report.removed += removed;
        reading.renew();
      }
    }
    return { ...report, issues };
  }

  /** Puts a complete new index in the place of the old one. */
  function swap(made: Shelf): void {
    carryEmbeddings(made.index, file);
    made.index[Symbol.dispose]();
    const fd = openSync(temporary(file), "r+");
    fsyncSync(fd);
    closeSync(fd);
    if (shelf !== made) shelf.index[Symbol.dispose]();
    for (const ending of ["-wal", "-shm"]) removeIndexPart(`${file}${ending}`);
    renameSync(temporary(file), file);
    const opened = openIndex(file, stamp);
    shelf = shelfOf(opened.kind === "current" ? opened.index : createIndex(file, stamp));
    isNew = false;
  }

  /** True while the passage is what its file or transcript says. What is not is indexed again. */
  let stale = false;
  function isTrue(passage: StoredPassage, document: DocumentFacts): boolean {
    if (document.source === "sessions") return store !== undefined && isInTranscript(store, document.path, document.sessionKey, passage);
    const path = resolve(settings.workspace, document.path);
    const facts = lstatSync(path, { throwIfNoEntry: false });
    if (facts?.isFile() && facts.mtimeMs === document.mtime && facts.size === document.size) return true;
    const outcome = syncNote(notesSync(shelf), { path: document.path, file: path }, knownNote(shelf.index, document.path));
    if (outcome === "same") return true;
    stale = true;
    return false;
  }

  const watching =
    settings.watch && settings.sources.includes("memory")
      ? watchNotes(roots, settings.watchDebounceMs, { changed: () => (notesDirty = true), settled: () => deps.changed(library) })
      : undefined;

  const library: Library = {
    settings,
    get isComplete() {
      return complete;
    },
    get isDirty() {
      return notesDirty || anyGrown;
    },
    get isNotesDirty() {
      // Where nothing is watched, files may have changed at any time; a look every now and then is enough.
      const unwatched = watching?.works !== true && performance.now() - lastLook > UNWATCHED_LOOK_MS;
      return (notesDirty || unwatched) && settings.sources.includes("memory");
    },
    *syncNotes() {
      notesDirty = false;
      lastLook = performance.now();
      const notes = yield* syncNotes(notesSync(shelf));
      issues = notes.issues;
      if (notes.again) notesDirty = true;
    },
    get issues() {
      return issues;
    },
    get shelf() {
      return shelf;
    },
    touched(files) {
      if (!files) anyGrown = true;
      else for (const name of files) grown.add(name);
    },
    notesChanged() {
      notesDirty = true;
    },
    *catchUp() {
      if (!settings.sources.includes("sessions") || (grown.size === 0 && !anyGrown)) return;
      const reading = inspected();
      if (!reading) return;
      if (anyGrown) {
        anyGrown = false;
        grown = new Set();
        yield* syncTranscripts(transcriptsSync(shelf, reading));
      } else {
        const files = [...grown];
        grown = new Set();
        for (const name of files) {
          for (const row of reading.read("transcripts.conversations", { file: name })) yield* syncTranscript(transcriptsSync(shelf, reading), row);
        }
      }
    },
    *sync({ rebuild = false, force = false } = {}) {
      const started = performance.now();
      let target = shelf;
      if (rebuild && !isNew) target = shelfOf(createIndex(temporary(file), stamp, true));
      let report: Omit<SyncReport, "ms">;
      try {
        report = yield* follow(target, force || rebuild);
      } catch (error) {
        if (target !== shelf) target.index[Symbol.dispose]();
        throw error;
      }
      if (target !== shelf || isNew) swap(target);
      complete = true;
      return { ...report, ms: performance.now() - started };
    },
    search(request, vectors) {
      const started = performance.now();
      inspected();
      const searched: Omit<SearchDeps, "index" | "passages"> = { analyser, concepts, learned, fixed, vectors, isTrue };
      stale = false;
      let answer = search({ ...searched, ...shelf }, request);
      if (stale) answer = search({ ...searched, ...shelf }, request);
      store?.renew();
      return { ...answer, indexing: !complete, ms: performance.now() - started };
    },
    counts: () => countsOf(shelf.index),
    reading: inspected,
    forget(files) {
      for (const name of files) {
        const id = shelf.index.sql("SELECT id FROM documents WHERE path = ?").get(name)?.["id"];
        if (typeof id === "number") removeDocument(shelf, id);
      }
      anyGrown = true;
      notesDirty = true;
    },
    discard() {
      this[Symbol.dispose]();
      removeIndex(file);
      removeIndex(temporary(file));
    },
    [Symbol.dispose]() {
      watching?.[Symbol.dispose]();
      shelf.index[Symbol.dispose]();
      store?.[Symbol.dispose]();
    },
  };
  return library;
}

function removeIndexPart(file: string): void {
  try {
    renameSync(file, `${file}.old`);
  } catch {
    return;
  }
  removeIndex(`${file}.old`);
}

/** Embeddings that were paid for are kept, also those of the reference system's index. */
function carryEmbeddings(made: IndexDatabase, former: string): void {
  try {
    made.db.prepare("ATTACH ? AS former").run(former);
  } catch {
    return;
  }
  try {
    made.db.exec("INSERT OR IGNORE INTO embedding_cache SELECT provider, model, provider_key, hash, embedding, dims, updated_at FROM former.embedding_cache");
  } catch {
    // It has none.
  } finally {
    made.db.exec("DETACH former");
  }
}

function countsOf(index: IndexDatabase): IndexCounts {
  const rows = index.sql("SELECT source, count(*) AS files, sum(passages) AS chunks FROM documents GROUP BY source").all();
  const bySource = rows.map((row) => ({
    source: row["source"] === "sessions" ? ("sessions" as const) : ("memory" as const),
    files: Number(row["files"]),
    chunks: Number(row["chunks"]),
  }));
  const number = (text: string): number => Number(Object.values(index.sql(text).get() ?? {})[0] ?? 0);
  return {
    files: bySource.reduce((sum, { files }) => sum + files, 0),
    chunks: bySource.reduce((sum, { chunks }) => sum + chunks, 0),
    bySource,
    bytes: statSync(index.file, { throwIfNoEntry: false })?.size ?? 0,
    textBytes: number("SELECT coalesce(sum(octet_length(text)), 0) FROM passages"),
    vectors: number("SELECT count(*) FROM vectors"),
    cached: number("SELECT count(*) FROM embedding_cache"),
  };
}
