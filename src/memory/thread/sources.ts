import { inspectStore, type Inspection } from "../../store/index.ts";
import type { DocumentFacts } from "../search/present.ts";
import type { NoteIssue, SyncReport } from "../types.ts";
import type { OpenIndex } from "../storage/index-file.ts";
import type { LibrarySettings } from "./library-settings.ts";
import type { NoteFile } from "./note-files.ts";
import type { StoredPassage } from "../storage/passages.ts";
import { knownNote, syncNote, syncNotes, type NotesReport, type NotesSync, type Outcome, type Steps } from "./sync-notes.ts";
import { isInTranscript, syncTranscript, syncTranscripts, type TranscriptsSync } from "./sync-transcripts.ts";
import { watchNotes } from "./watch-notes.ts";

/** Notes and transcripts of an agent, and what of them an index does not have yet. */
export interface Sources extends Disposable {
  readonly isDirty: boolean;
  readonly isNotesDirty: boolean;
  readonly issues: readonly NoteIssue[];
  /** Lines of transcripts that are known to be left to index. */
  readonly left: number;
  /** Transcripts that grew. Undefined: any may have changed. */
  touched(files: readonly string[] | undefined): void;
  notesChanged(): void;
  /** Brings an index up to date with everything. */
  follow(target: OpenIndex, force: boolean): Steps<Omit<SyncReport, "ms">>;
  syncNotes(): Steps;
  syncNote(note: Pick<NoteFile, "path" | "file">): Outcome;
  /** Indexes transcripts that grew. */
  catchUp(): Steps;
  /** Sees the transcripts as they are now, until `letGo`. */
  look(): Inspection | undefined;
  letGo(): void;
  isInTranscript(document: Pick<DocumentFacts, "path" | "sessionKey">, passage: StoredPassage): boolean;
}

export interface SourcesDeps {
  readonly now: () => number;
  readonly current: () => OpenIndex;
  /** Notes changed and then stayed as they are for a while. */
  readonly changed: () => void;
}

/** Where nothing is watched, files may have changed at any time; a look every now and then is enough. */
const UNWATCHED_LOOK_MS = 100;

/** The transcripts in the store, opened when first needed. */
function createReader(stateDir: string): Pick<Sources, "look" | "letGo"> & Disposable & { readonly has: Sources["isInTranscript"] } {
  let store: Inspection | undefined;
  return {
    look() {
      store ??= inspectStore(stateDir);
      store?.renew();
      return store;
    },
    letGo: () => store?.renew(),
    has: ({ path, sessionKey }, passage) => store !== undefined && isInTranscript(store, path, sessionKey, passage),
    [Symbol.dispose]: () => store?.[Symbol.dispose](),
  };
}

function* nothing(): Steps {}

function* syncFile(sync: TranscriptsSync, file: string): Steps {
  for (const row of sync.store.read("transcripts.conversations", { file })) yield* syncTranscript(sync, row);
}

export function createSources(settings: LibrarySettings, { now, current, changed }: SourcesDeps): Sources {
  const { agentId, chunking, workspace, extraPaths } = settings;
  const [hasNotes, hasSessions] = [settings.sources.includes("memory"), settings.sources.includes("sessions")];
  const transcripts = createReader(settings.stateDir);
  let [grown, anyGrown, notesDirty] = [new Set<string>(), true, true];
  let issues: readonly NoteIssue[] = [];
  let lastLook = Number.NEGATIVE_INFINITY;
  const roots = { workspace, extraPaths };
  const progress = { left: 0 };
  const watching =
    settings.watch && hasNotes ? watchNotes(roots, settings.watchDebounceMs, { changed: () => (notesDirty = true), settled: changed }) : undefined;

  const notesSync = ({ index, passages }: OpenIndex): NotesSync => ({ index, passages, roots, chunking, now });
  const transcriptsSync = ({ index, passages }: OpenIndex, reading: Inspection): TranscriptsSync => ({ index, passages, store: reading, agentId, progress });

  function* followNotes(target: OpenIndex, force = false): Steps<NotesReport> {
    notesDirty = false;
    lastLook = performance.now();
    const report = yield* syncNotes(notesSync(target), force);
    issues = report.issues;
    if (report.again) notesDirty = true;
    return report;
  }

  function* followTranscripts(target: OpenIndex): Steps<{ readonly added: number; readonly removed: number }> {
    const reading = transcripts.look();
    anyGrown = false;
    grown = new Set();
    if (!reading) return { added: 0, removed: 0 };
    const report = yield* syncTranscripts(transcriptsSync(target, reading));
    reading.renew();
    return report;
  }

  /** Only transcripts that are known to have grown, unless any may have changed. */
  function* followGrown(): Steps {
    if (anyGrown) {
      yield* followTranscripts(current());
      return;
    }
    const reading = transcripts.look();
    const files = [...grown];
    grown = new Set();
    if (reading) for (const file of files) yield* syncFile(transcriptsSync(current(), reading), file);
  }

  return {
    get isDirty() {
      return notesDirty || anyGrown;
    },
    get isNotesDirty() {
      const unwatched = watching?.works !== true && performance.now() - lastLook > UNWATCHED_LOOK_MS;
      return hasNotes && (notesDirty || unwatched);
    },
    get issues() {
      return issues;
    },
    get left() {
      return progress.left;
    },
    touched(files) {
      if (!files) anyGrown = true;
      else for (const name of files) grown.add(name);
    },
    notesChanged() {
      notesDirty = true;
    },
    *follow(target, force) {
      const notes = hasNotes ? yield* followNotes(target, force) : { files: 0, changed: 0, removed: 0 };
      const sessions = hasSessions ? yield* followTranscripts(target) : { added: 0, removed: 0 };
      return { files: notes.files, changed: notes.changed, removed: notes.removed + sessions.removed, messages: sessions.added, issues };
    },
    *syncNotes() {
      yield* followNotes(current());
    },
    syncNote: (note) => syncNote(notesSync(current()), note, knownNote(current().index, note.path)),
    catchUp: () => (hasSessions && (grown.size > 0 || anyGrown) ? followGrown() : nothing()),
    look: transcripts.look,
    letGo: transcripts.letGo,
    isInTranscript: transcripts.has,
    [Symbol.dispose]() {
      watching?.[Symbol.dispose]();
      transcripts[Symbol.dispose]();
    },
  };
}
