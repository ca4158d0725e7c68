/** The thread that keeps the indexes of all agents and answers searches: whatever it does, no turn waits for it. */
import { parentPort, type MessagePort } from "node:worker_threads";
import { AppError, messageOf } from "../../base/errors.ts";
import { statusWithout } from "../embeddings/no-embeddings.ts";
import { isDamaged } from "../storage/database.ts";
import { createLibraries } from "./libraries.ts";
import type { Library } from "./library.ts";
import type { FromThread, RequestKind, Requests, ToThread } from "./messages.ts";
import { createScheduler, runFor, type Scheduler } from "./scheduler.ts";
import type { Steps } from "./sync-notes.ts";
import { exportPassages } from "./export.ts";
import { findTexts } from "./find.ts";
import { findRecalls } from "./recalls.ts";

/** How long a search waits for messages that are new, and how long the first one waits for the index. */
const CATCH_UP_MS = 100;
const FIRST_MS = 2000;
/** A changed note is looked at again before a search for at most this long. */
const NOTES_MS = 150;

/** Whose memory is asked, and what embeds for it. */
type Asked = Pick<Extract<ToThread, { type: "request" }>, "settings" | "embeddings">;

/** The first look at everything, once per index; in the background beyond some seconds. */
function createFirstLook(scheduler: Scheduler): (library: Library) => Promise<void> {
  const first = new Map<string, Promise<unknown>>();
  return async (library) => {
    const { agentId } = library.settings;
    if (library.isComplete) return;
    const running = first.get(agentId) ?? scheduler.run(() => library.sync()).finally(() => first.delete(agentId));
    first.set(agentId, running);
    let timer: NodeJS.Timeout | undefined;
    await Promise.race([running, new Promise<void>((late) => (timer = setTimeout(late, FIRST_MS)))]);
    clearTimeout(timer);
  };
}

type Briefly = (steps: Steps, ms: number) => void;

/** Messages with some words, new ones included. */
const createMessages =
  (ready: (library: Library) => Promise<void>, briefly: Briefly) =>
  async (library: Library, request: Requests["messages"]["input"]): Promise<Requests["messages"]["result"]> => {
    await ready(library);
    briefly(library.catchUp(), CATCH_UP_MS);
    return library.messages(request);
  };

/** Requests that read notes, transcripts or the whole index, instead of searching. */
type AsideKind = "find" | "recalls" | "export";

const isAside = (kind: keyof Requests): kind is AsideKind => kind === "find" || kind === "recalls" || kind === "export";

async function answerAside(library: Library, scheduler: Scheduler, kind: AsideKind, input: Requests[AsideKind]["input"]): Promise<unknown> {
  const { workspace, extraPaths, agentId } = library.settings;
  if (kind === "export") {
    const { after, limit } = input as Requests["export"]["input"];
    if (after === 0) await scheduler.run(() => library.sync());
    return exportPassages(library.open.index, after, limit);
  }
  const reading = library.reading();
  try {
    if (kind === "find") return await scheduler.run(() => findTexts(input as Requests["find"]["input"], { workspace, extraPaths }, reading, agentId));
    return reading ? await scheduler.run(() => findRecalls(reading, agentId, (input as Requests["recalls"]["input"]).limit)) : [];
  } finally {
    // A snapshot that is held keeps the store's log from being emptied.
    reading?.renew();
  }
}

function serve(port: MessagePort): void {
  const post = (message: FromThread): void => port.postMessage(message);
  const scheduler = createScheduler();
  const libraries = createLibraries(post, scheduler);
  const ready = createFirstLook(scheduler);
  /** Runs steps for a moment; what is left of them goes on in the background. */
  function briefly(steps: Steps, ms: number): void {
    if (runFor(steps, ms)) return;
    scheduler.run(() => steps).catch((error: unknown) => post({ type: "notice", message: `the index could not be brought up to date: ${messageOf(error)}` }));
  }

  const messages = createMessages(ready, briefly);
  async function answer<K extends RequestKind>(kind: K, { settings, embeddings: chosen }: Asked, input: Requests[K]["input"]): Promise<unknown> {
    const library = libraries.open(settings);
    const semantic = await libraries.embeddings(library, chosen);
    if (kind === "search") {
      const { query } = input as Requests["search"]["input"];
      const near = semantic?.near(query);
      await ready(library);
      if (library.isComplete && library.isNotesDirty) briefly(library.syncNotes(), NOTES_MS);
      briefly(library.catchUp(), CATCH_UP_MS);
      const found = library.search(input as Requests["search"]["input"], await near);
      semantic?.fill();
      return found.mode === "fts-only" ? found : { ...found, ...semantic?.provider };
    }
    if (kind === "messages") return messages(library, input as Requests["messages"]["input"]);
    if (kind === "sync") {
      const report = await scheduler.run(() => library.sync(input as Requests["sync"]["input"]));
      semantic?.fill();
      return report;
    }
    if (kind === "purge") {
      const { files = [] } = input as Requests["purge"]["input"];
      await scheduler.run(function* () {
        library.forget(files);
        yield* library.sync();
      });
      if (library.counts().cached > 0) await (await import("../embeddings/filling.ts")).forgetRemovedTexts(library.open.index);
      library.open.index.compact();
      return null;
    }
    if (isAside(kind)) return answerAside(library, scheduler, kind, input as Requests[typeof kind]["input"]);
    await ready(library);
    const { deep = false } = input as Requests["status"]["input"];
    const counts = library.counts();
    const about = semantic ? await semantic.status({ deep }) : statusWithout(chosen, counts);
    semantic?.fill();
    const { isDirty: dirty, isComplete, left, issues } = library;
    return { ...about, counts, dirty, indexing: !isComplete, left, issues } satisfies Requests["status"]["result"];
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
      libraries.reopen(asked.settings, error);
      return answer(kind, asked, input);
    }
  }

  port.on("message", (message: ToThread) => {
    if (message.type === "request") void handle(message);
    else if (message.type === "touched") libraries.get(message.agentId)?.touched(message.files);
    else if (message.type === "notesChanged") libraries.get(message.agentId)?.notesChanged();
    else {
      libraries.close();
      port.close();
    }
  });
}

if (parentPort) serve(parentPort);
