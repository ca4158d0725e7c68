/** The store's thread: with mode `write` the only writer, with mode `read` an additional reader for long reads. */
import { parentPort, receiveMessageOnPort, type MessagePort } from "node:worker_threads";
import { systemClock } from "../../base/clock.ts";
import { watchMainThread } from "../../base/watchdog/watch-main-thread.ts";
import { createMemoryCare } from "../../base/memory-care.ts";
import { createBackground } from "./background.ts";
import { createStatements, runRead } from "../sqlite/connection.ts";
import { createRequestHandler } from "./request-handler.ts";
import { errorMessage, storeError } from "../sqlite/failure.ts";
import { createGroups } from "./group.ts";
import { openImport } from "./importing.ts";
import { createLogMover } from "./log-mover.ts";
import type { OpenRequest, Reply, Request, Settled } from "../messages.ts";
import { markSuspect, openReader, openWitness } from "../sqlite/open.ts";
import { openDatabase, type Opened } from "./open-database.ts";
import { createSessionIndex, followTranscripts, type SessionIndex, type TouchedSession } from "../session-index/index.ts";
import { createTranscriptFiles } from "./transcript-files.ts";
import { createWriter, type Writer } from "./writer.ts";

/** This thread has a heap of its own; below this size most of it is in use. */
const MUCH_HELD = 12 * 1024 * 1024;
/** Worth releasing at once: it takes this thread a few milliseconds. */
const MUCH_TAKEN = 2 * 1024 * 1024;

/** The store's clock, continued by this thread's own. */
function createNow(start: number): () => number {
  const started = performance.now();
  return () => Math.floor(start + performance.now() - started);
}

/** What a thread says to its owner. */
interface Owner {
  readonly port: MessagePort;
  readonly post: (reply: Reply) => void;
  readonly log: (message: string, details?: Readonly<Record<string, unknown>>) => void;
}

function reportSalvage({ salvage }: Opened, now: () => number, { post, log }: Owner): void {
  if (!salvage) return;
  const message = `the database was damaged (${salvage.reason}); what could be read was recovered, the damaged file is in ${salvage.folder}`;
  post({ type: "notices", notices: [{ kind: "salvaged", message, at: now(), details: { ...salvage } }] });
  log(message, { ...salvage });
}

async function startWriter(data: OpenRequest, owner: Owner): Promise<Writer> {
  const { port, post, log } = owner;
  const now = createNow(data.now);
  const opened = await openDatabase({ file: data.file, stateDir: data.stateDir, now });
  reportSalvage(opened, now, owner);
  const { db } = opened;
  const sql = createStatements(db);
  const later = (ms: number, fn: () => void): unknown => setTimeout(fn, ms).unref();
  // Work postponed before the store failed must not touch the disk after it.
  const upkeepLater = (ms: number, fn: () => void): unknown => later(ms, () => handler.upkeep(fn));
  const base = { db, sql, stateDir: data.stateDir, now, log };
  const sessionIndex = data.sessionIndex && openSessionIndex(data.sessionIndex.path);
  const touched = (await sessionIndex?.open()) ?? [];
  const imports = await openImport(base);
  const files = createTranscriptFiles({ ...base, later, adopt: imports.adopt, upkeep: keepFiles });
  const background = createBackground({
    db,
    sql,
    files,
    importing: imports.steps,
    imported: imports.finish,
    later: upkeepLater,
    failed: (error) => handler.fail(error),
    mover: createLogMover(data.file),
    resume: () => writer.accept({ type: "batch", commits: [], reads: [] }),
  });
  const groups = createGroups(db, sql);
  const handler = createRequestHandler({ sql, groups, files, sessionIndex, background, post, now, markSuspect: (reason) => markSuspect(data.file, reason) });
  const receive = (): Request | undefined => receiveMessageOnPort(port)?.message;
  const writer = createWriter({ db, handler, receive, files, sessionIndex, background, witness: () => openWitness(data.file), closed: () => port.close() });
  if (touched.length > 0) followSessions(touched);
  return writer;

  function keepFiles(work: () => void): void {
    handler.upkeep(work);
    handler.reportProblems();
  }

  function followSessions(sessions: readonly TouchedSession[]): void {
    background.importMore(followTranscripts({ ...base, importLines: files.importLines }, sessions));
  }

  function openSessionIndex(template: string | undefined): SessionIndex {
    return createSessionIndex({
      ...base,
      template,
      later: upkeepLater,
      wrote: () => background.wrote(),
      imported(sessions) {
        post({ type: "takenIn" });
        followSessions(sessions);
        void imports.again().then((steps) => {
          background.importMore(steps);
          writer.accept({ type: "batch", commits: [], reads: [] });
        });
      },
    });
  }
}

function startReader(data: OpenRequest, { port, post }: Owner): { accept(request: Request): void } {
  const db = openReader(data.file);
  const context = { sql: createStatements(db), previews: new Map(), trees: new Map() };
  return {
    accept(request) {
      if (request.type === "close") {
        db.close();
        port.close();
        return;
      }
      if (request.type !== "batch") return;
      const settled = request.reads.map(([id, kind, input]): Settled => {
        try {
          return [id, true, runRead(context, kind, input)];
        } catch (error) {
          return [id, false, errorMessage(storeError(`could not read ${kind}`, error))];
        }
      });
      post({ type: "settled", settled, diskFull: false, held: false });
    },
  };
}

/** Opens the store with the first message, and handles the others once it is open. */
function serve(port: MessagePort): void {
  const post = (reply: Reply): void => port.postMessage(reply);
  const owner: Owner = { port, post, log: (message, details) => post({ type: "log", message, details }) };
  /** Messages that arrive while the database is being opened. */
  const early: Request[] = [];
  let accept = (request: Request): void => void early.push(request);

  async function open(data: OpenRequest): Promise<void> {
    try {
      const thread = data.mode === "write" ? await startWriter(data, owner) : startReader(data, owner);
      const care = createMemoryCare({ clock: systemClock, isBusy: () => false, leastBytes: MUCH_HELD, muchBytes: MUCH_TAKEN });
      accept = (request) => {
        thread.accept(request);
        care.touched();
      };
      post({ type: "opened" });
      if (data.watch) watchMainThread(data.watch, owner.log);
      if (data.mode === "write") thread.accept({ type: "batch", commits: [], reads: [] });
      for (const request of early.splice(0)) thread.accept(request);
    } catch (error) {
      post({ type: "refused", error: errorMessage(storeError("the store could not be opened", error)) });
      port.close();
    }
  }

  port.on("message", (message: OpenRequest | Request) => (message.type === "open" ? void open(message) : accept(message)));
}

if (parentPort) serve(parentPort);
