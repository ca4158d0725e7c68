/** The thread that keeps the indexes of all agents and answers searches: whatever it does, no turn waits for it. */
import { parentPort, type MessagePort } from "node:worker_threads";
import { AppError, messageOf } from "../../base/errors.ts";
import { loadRanker } from "../search/weights.ts";
import { createAnalyser } from "../text/analyser.ts";
import { loadConcepts } from "../text/concept-words.ts";
import { isDamaged } from "./database.ts";
import { exportPassages } from "./export.ts";
import { findTexts } from "./find.ts";
import { openLibrary, type Library, type LibrarySettings } from "./library.ts";
import type { FromThread, RequestKind, Requests, ToThread } from "./messages.ts";
import { findRecalls } from "./recalls.ts";
import { createScheduler, runFor } from "./scheduler.ts";

/** How long a search waits for messages that are new, and how long the first one waits for the index. */
const CATCH_UP_MS = 100;
const FIRST_MS = 2000;
/** A changed note is looked at again before a search for at most this long. */
const NOTES_MS = 150;

function serve(port: MessagePort): void {
  const post = (message: FromThread): void => port.postMessage(message);
  const analyser = createAnalyser();
  const concepts = loadConcepts(analyser);
  const learned = loadRanker();
  const libraries = new Map<string, Library>();
  const scheduler = createScheduler();
  const changed = (library: Library): void =>
    void scheduler
      .run(() => library.syncNotes())
      .catch((error: unknown) => post({ type: "notice", message: `notes could not be indexed: ${messageOf(error)}` }));
  /** Transcripts that grew before their agent was asked about need no note: opening compares all of them. */
  const open = (settings: LibrarySettings): Library => {
    const known = libraries.get(settings.agentId);
    if (known && JSON.stringify(known.settings) === JSON.stringify(settings)) return known;
    known?.[Symbol.dispose]();
    const library = openLibrary(settings, {
      analyser,
      concepts,
      learned,
      now: () => Date.now(),
      changed,
      notice: (message) => post({ type: "notice", message }),
    });
    libraries.set(settings.agentId, library);
    return library;
  };

  /** An index that cannot be read is thrown away and made again: it is a cache. */
  function reopen(settings: LibrarySettings, why: unknown): Library {
    libraries.get(settings.agentId)?.discard();
    libraries.delete(settings.agentId);
    post({ type: "notice", message: `the memory index of agent ${settings.agentId} was damaged and is made again: ${messageOf(why)}` });
    return open(settings);
  }

  const first = new Map<string, Promise<unknown>>();
  /** The first look at everything, once per index; in the background beyond some seconds. */
  async function ready(library: Library): Promise<void> {
    const { agentId } = library.settings;
    if (library.isComplete) return;
    const running = first.get(agentId) ?? scheduler.run(() => library.sync()).finally(() => first.delete(agentId));
    first.set(agentId, running);
    let timer: NodeJS.Timeout | undefined;
    await Promise.race([running, new Promise<void>((late) => (timer = setTimeout(late, FIRST_MS)))]);
    clearTimeout(timer);
  }

  async function answer<K extends RequestKind>(kind: K, settings: LibrarySettings, input: Requests[K]["input"]): Promise<unknown> {
    const library = open(settings);
    if (kind === "search") {
      await ready(library);
      if (library.isComplete && library.isNotesDirty) runFor(library.syncNotes(), NOTES_MS);
      runFor(library.catchUp(), CATCH_UP_MS);
      return library.search(input as Requests["search"]["input"]);
    }
    if (kind === "sync") return scheduler.run(() => library.sync(input as Requests["sync"]["input"]));
    if (kind === "purge") {
      const { files = [] } = input as Requests["purge"]["input"];
      await scheduler.run(function* () {
        library.forget(files);
        yield* library.sync();
      });
      library.shelf.index.compact();
      return null;
    }
    if (kind === "export") {
      const { after, limit } = input as Requests["export"]["input"];
      if (after === 0) await scheduler.run(() => library.sync());
      return exportPassages(library.shelf.index, after, limit);
    }
    if (kind === "find" || kind === "recalls") return lookUp(library, kind, input);
    await ready(library);
    return { counts: library.counts(), dirty: library.isDirty, indexing: !library.isComplete, issues: library.issues } satisfies Requests["status"]["result"];
  }

  /** Reads notes and transcripts themselves, not the index. */
  async function lookUp(library: Library, kind: "find" | "recalls", input: unknown): Promise<unknown> {
    const { workspace, extraPaths, agentId } = library.settings;
    const reading = library.reading();
    try {
      if (kind === "find") return await scheduler.run(() => findTexts(input as Requests["find"]["input"], { workspace, extraPaths }, reading, agentId));
      return reading ? await scheduler.run(() => findRecalls(reading, agentId, (input as Requests["recalls"]["input"]).limit)) : [];
    } finally {
      reading?.renew();
    }
  }

  async function handle({ id, kind, settings, input }: Extract<ToThread, { type: "request" }>): Promise<void> {
    try {
      post({ type: "answer", id, result: await retrying(kind, settings, input as Requests[typeof kind]["input"]) });
    } catch (error) {
      post({ type: "failure", id, code: error instanceof AppError ? error.code : "INTERNAL", message: messageOf(error) });
    }
  }

  async function retrying<K extends RequestKind>(kind: K, settings: LibrarySettings, input: Requests[K]["input"]): Promise<unknown> {
    try {
      return await answer(kind, settings, input);
    } catch (error) {
      if (!isDamaged(error)) throw error;
      reopen(settings, error);
      return answer(kind, settings, input);
    }
  }

  port.on("message", (message: ToThread) => {
    if (message.type === "request") void handle(message);
    else if (message.type === "touched") libraries.get(message.agentId)?.touched(message.files);
    else if (message.type === "notesChanged") libraries.get(message.agentId)?.notesChanged();
    else {
      for (const library of libraries.values()) library[Symbol.dispose]();
      port.close();
    }
  });
}

if (parentPort) serve(parentPort);
