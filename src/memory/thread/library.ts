import { lstatSync, statSync } from "node:fs";
import { resolve } from "node:path";
import type { Inspection } from "../../store/index.ts";
import type { Near } from "../search/candidates.ts";
import { searchMessages, type FoundMessages, type MessagesRequest } from "../search/messages.ts";
import { search, type SearchDeps } from "../search/search.ts";
import type { DocumentFacts } from "../search/present.ts";
import { fixedRanker, type Ranker } from "../search/ranker.ts";
import type { Analyser } from "../text/analyser.ts";
import type { Concepts } from "../text/concepts.ts";
import type { IndexCounts, NoteIssue, SearchAnswer, SearchRequest, SyncReport } from "../types.ts";
import type { IndexDatabase } from "../storage/database.ts";
import { openIndexFile, type OpenIndex } from "../storage/index-file.ts";
import type { StoredPassage } from "../storage/passages.ts";
import { createSources, type Sources } from "./sources.ts";
import type { LibrarySettings } from "./library-settings.ts";
import { removeDocument, type Steps } from "./sync-notes.ts";

export interface LibraryDeps {
  readonly analyser: Analyser;
  readonly concepts: Concepts;
  readonly learned: Ranker | undefined;
  readonly now: () => number;
  /** Notes changed and then stayed as they are for a while. */
  readonly changed: (library: Library) => void;
  readonly notice: (message: string) => void;
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
  /** `near`: what embeddings know of the question, as the index is when it is called. */
  search(request: SearchRequest, near?: () => Near | undefined): SearchAnswer;
  messages(request: MessagesRequest): FoundMessages & { readonly indexing: boolean };
  counts(): IndexCounts;
  readonly issues: readonly NoteIssue[];
  /** Lines of transcripts that are known to be left to index. */
  readonly left: number;
  /** The transcripts, as they are now. */
  reading(): Inspection | undefined;
  /** Removes transcripts from the index: the next look indexes them again. */
  forget(files: readonly string[]): void;
  /** The index in use, for the parts that keep embeddings. */
  readonly open: OpenIndex;
  /** Closes the index and deletes it. */
  discard(): void;
}

/** True while a passage is what its file or transcript says; a note that says something else is indexed again. */
function createCheck({ workspace }: LibrarySettings, sources: Sources): { readonly isTrue: SearchDeps["isTrue"]; stale: boolean } {
  const check = {
    stale: false,
    isTrue(passage: StoredPassage, document: DocumentFacts): boolean {
      if (document.source === "sessions") return sources.isInTranscript(document, passage);
      const file = resolve(workspace, document.path);
      const facts = lstatSync(file, { throwIfNoEntry: false });
      if (facts?.isFile() && facts.mtimeMs === document.mtime && facts.size === document.size) return true;
      if (sources.syncNote({ path: document.path, file }) === "same") return true;
      check.stale = true;
      return false;
    },
  };
  return check;
}

/** Searches messages in the transcripts as they are now. */
function findMessages(deps: Parameters<typeof searchMessages>[0], sources: Pick<Sources, "look" | "letGo">, request: MessagesRequest): FoundMessages {
  sources.look();
  const found = searchMessages(deps, request);
  sources.letGo();
  return found;
}

export function openLibrary(settings: LibrarySettings, deps: LibraryDeps): Library {
  const { analyser, concepts, learned, now } = deps;
  const { chunking, agentId } = settings;
  const indexes = openIndexFile({
    file: settings.file,
    stamp: { chunkTokens: chunking.tokens, chunkOverlap: chunking.overlap },
    analyser,
    onRemake: (why) => deps.notice(`the memory index of agent ${agentId} is being rebuilt: ${why}`),
  });
  const sources = createSources(settings, { now, current: () => indexes.current, changed: () => deps.changed(library) });
  const check = createCheck(settings, sources);
  const fixed = fixedRanker();
  let complete = false;

  const library: Library = {
    settings,
    get isComplete() {
      return complete;
    },
    get isDirty() {
      return sources.isDirty;
    },
    get isNotesDirty() {
      return sources.isNotesDirty;
    },
    get issues() {
      return sources.issues;
    },
    get left() {
      return sources.left;
    },
    get open() {
      return indexes.current;
    },
    touched: sources.touched,
    notesChanged: sources.notesChanged,
    syncNotes: sources.syncNotes,
    catchUp: sources.catchUp,
    *sync({ rebuild = false, force = false } = {}) {
      const started = performance.now();
      const target = rebuild && !indexes.isNew ? indexes.begin() : indexes.current;
      let report: Omit<SyncReport, "ms">;
      try {
        report = yield* sources.follow(target, force || rebuild);
      } catch (error) {
        if (target !== indexes.current) target.index[Symbol.dispose]();
        throw error;
      }
      if (target !== indexes.current || indexes.isNew) indexes.finish(target);
      complete = true;
      return { ...report, ms: performance.now() - started };
    },
    search(request, near) {
      const started = performance.now();
      const ask = (): ReturnType<typeof search> =>
        search({ analyser, concepts, learned, fixed, isTrue: check.isTrue, ...indexes.current, near: near?.() }, request);
      sources.look();
      check.stale = false;
      let answer = ask();
      if (check.stale) answer = ask();
      sources.letGo();
      return { ...answer, indexing: !complete, ms: performance.now() - started };
    },
    messages: (request) => ({ ...findMessages({ analyser, isTrue: check.isTrue, ...indexes.current }, sources, request), indexing: !complete }),
    counts: () => countsOf(indexes.current.index),
    reading: sources.look,
    forget: (files) => forgetFiles(files, indexes.current, sources),
    discard() {
      sources[Symbol.dispose]();
      indexes.discard();
    },
    [Symbol.dispose]() {
      sources[Symbol.dispose]();
      indexes[Symbol.dispose]();
    },
  };
  return library;
}

function forgetFiles(files: readonly string[], open: OpenIndex, sources: Pick<Sources, "touched" | "notesChanged">): void {
  for (const name of files) removeByPath(open, name);
  sources.touched(undefined);
  sources.notesChanged();
}

function removeByPath(open: OpenIndex, path: string): void {
  const id = open.index.sql("SELECT id FROM documents WHERE path = ?").get(path)?.["id"];
  if (typeof id === "number") removeDocument(open, id);
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
    bytes: ["", "-wal"].reduce((sum, ending) => sum + (statSync(`${index.file}${ending}`, { throwIfNoEntry: false })?.size ?? 0), 0),
    textBytes: number("SELECT coalesce(sum(octet_length(text)), 0) FROM passages"),
    vectors: number("SELECT count(*) FROM vectors"),
    cached: number("SELECT count(*) FROM embedding_cache"),
  };
}
