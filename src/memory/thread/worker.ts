/** The thread that keeps the indexes of all agents and answers searches: whatever it does, no turn waits for it. */
import { parentPort, type MessagePort } from "node:worker_threads";
import { AppError, messageOf } from "../../base/errors.ts";
import { statusWithout } from "../embeddings/no-embeddings.ts";
import { answerAside, isAside } from "./aside.ts";
import { isDamaged } from "../storage/database.ts";
import { createLibraries } from "./libraries.ts";
import type { Library } from "./library.ts";
import type { FromThread, RequestKind, Requests, ToThread } from "./messages.ts";
import { createScheduler, runFor, type Scheduler } from "./scheduler.ts";
import type { Steps } from "./sync-notes.ts";

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
    return {
      ...about,
      counts,
      dirty: library.isDirty,
      indexing: !library.isComplete,
      left: library.left,
      issues: library.issues,
    } satisfies Requests["status"]["result"];
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
