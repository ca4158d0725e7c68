/** The thread that keeps the indexes of all agents and answers searches: whatever it does, no turn waits for it. */
import { parentPort, type MessagePort } from "node:worker_threads";
import { AppError, messageOf } from "../../base/errors.ts";
import { loadRanker } from "../search/weights.ts";
import { createAnalyser } from "../text/analyser.ts";
import { loadConcepts } from "../text/concept-words.ts";
import { statusWithout } from "../embeddings/no-embeddings.ts";
import { isDamaged } from "./database.ts";
import { openLibrary, type Library, type LibrarySettings } from "./library.ts";
import type { FromThread, RequestKind, Requests, ToThread } from "./messages.ts";
import { createScheduler, runFor } from "./scheduler.ts";
import { createSemantics } from "./semantics.ts";

/** How long a search waits for messages that are new, and how long the first one waits for the index. */
const CATCH_UP_MS = 100;
const FIRST_MS = 2000;
/** A changed note is looked at again before a search for at most this long. */
const NOTES_MS = 150;

/** Whose memory is asked, and what embeds for it. */
type Asked = Pick<Extract<ToThread, { type: "request" }>, "settings" | "embeddings">;

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
  const semantics = createSemantics(post);
  /** Embeddings of an index end with it: what the provider still answers is dropped. */
  function close(agentId: string): void {
    semantics.close(agentId);
    libraries.get(agentId)?.[Symbol.dispose]();
    libraries.delete(agentId);
  }

  /** Transcripts that grew before their agent was asked about need no note: opening compares all of them. */
  const open = (settings: LibrarySettings): Library => {
    const known = libraries.get(settings.agentId);
    if (known && JSON.stringify(known.settings) === JSON.stringify(settings)) return known;
    close(settings.agentId);
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
    semantics.close(settings.agentId);
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

  async function answer<K extends RequestKind>(kind: K, { settings, embeddings: chosen }: Asked, input: Requests[K]["input"]): Promise<unknown> {
    const library = open(settings);
    const semantic = await semantics.of(library, chosen, () => libraries.get(settings.agentId) === library);
    if (kind === "search") {
      const { query } = input as Requests["search"]["input"];
      const near = semantic?.near(query);
      await ready(library);
      if (library.isComplete && library.isNotesDirty) runFor(library.syncNotes(), NOTES_MS);
      runFor(library.catchUp(), CATCH_UP_MS);
      const found = library.search(input as Requests["search"]["input"], await near);
      semantic?.fill();
      return found.mode === "fts-only" ? found : { ...found, ...semantic?.provider };
    }
    if (kind === "sync") {
      const report = await scheduler.run(() => library.sync(input as Requests["sync"]["input"]));
      semantic?.fill();
      return report;
    }
    if (kind === "purge") {
      await scheduler.run(() => library.sync());
      if (library.counts().cached > 0) await (await import("../embeddings/filling.ts")).forgetRemovedTexts(library.shelf.index);
      library.shelf.index.compact();
      return null;
    }
    await ready(library);
    const { deep = false } = input as Requests["status"]["input"];
    const counts = library.counts();
    const about = semantic ? await semantic.status({ deep }) : statusWithout(chosen, counts);
    semantic?.fill();
    return { ...about, counts, dirty: library.isDirty, indexing: !library.isComplete, issues: library.issues } satisfies Requests["status"]["result"];
  }

  async function handle({ id, kind, settings, embeddings: chosen, input }: Extract<ToThread, { type: "request" }>): Promise<void> {
    try {
      post({ type: "answer", id, result: await retrying(kind, { settings, embeddings: chosen }, input as Requests[typeof kind]["input"]) });
    } catch (error) {
      post({ type: "failure", id, code: error instanceof AppError ? error.code : "INTERNAL", message: messageOf(error) });
    }
  }

  async function retrying<K extends RequestKind>(kind: K, asked: Asked, input: Requests[K]["input"]): Promise<unknown> {
    try {
      return await answer(kind, asked, input);
    } catch (error) {
      if (!isDamaged(error)) throw error;
      reopen(asked.settings, error);
      return answer(kind, asked, input);
    }
  }

  port.on("message", (message: ToThread) => {
    if (message.type === "request") void handle(message);
    else if (message.type === "touched") libraries.get(message.agentId)?.touched(message.files);
    else if (message.type === "notesChanged") libraries.get(message.agentId)?.notesChanged();
    else {
      for (const agentId of libraries.keys()) close(agentId);
      port.close();
    }
  });
}

if (parentPort) serve(parentPort);
