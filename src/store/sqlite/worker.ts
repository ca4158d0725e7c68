/** The store's thread: with mode `write` the only writer, with mode `read` one more reader for long questions. */
import { parentPort, receiveMessageOnPort } from "node:worker_threads";
import { systemClock } from "../../base/clock.ts";
import { watchMainThread } from "../../base/watchdog/watch-main-thread.ts";
import { createMemoryCare } from "../../base/memory-care.ts";
import { createBackground } from "./background.ts";
import { createStatements, runRead } from "./connection.ts";
import { createDesk } from "./desk.ts";
import { errorMessage, storeError } from "./failure.ts";
import { createGroups } from "./group.ts";
import { openImport } from "./importing.ts";
import { createLogMover } from "./log-mover.ts";
import type { OpenRequest, Reply, Request, Settled } from "./messages.ts";
import { markSuspect, openDatabase, openReader, openWitness, type Opened } from "./open.ts";
import { createQueue } from "./queue.ts";
import { createTranscriptFiles } from "./transcript-files.ts";
import { createWriter, type Writer } from "./writer.ts";

const port = parentPort!;
/** This thread has a heap of its own, of which most is in use as long as it holds no more than this. */
const MUCH_HELD = 12 * 1024 * 1024;

const post = (reply: Reply): void => port.postMessage(reply);
const log = (message: string, details?: Readonly<Record<string, unknown>>): void => post({ type: "log", message, details });

/** The store's clock, carried on by this thread's own. */
function createNow(start: number): () => number {
  const started = performance.now();
  return () => Math.floor(start + performance.now() - started);
}

function tellSalvage({ salvage }: Opened, now: () => number): void {
  if (!salvage) return;
  const message = `the database was damaged (${salvage.reason}); what could be read was saved, the damaged file is in ${salvage.folder}`;
  post({ type: "notices", notices: [{ kind: "salvaged", message, at: now(), details: { ...salvage } }] });
  log(message, { ...salvage });
}

async function startWriter(data: OpenRequest): Promise<Writer> {
  const now = createNow(data.now);
  const opened = await openDatabase({ file: data.file, stateDir: data.stateDir, now });
  tellSalvage(opened, now);
  const { db } = opened;
  const sql = createStatements(db);
  const imports = await openImport({ db, sql, stateDir: data.stateDir, now, log });
  const later = (ms: number, fn: () => void): unknown => setTimeout(fn, ms).unref();
  const files = createTranscriptFiles({ db, sql, stateDir: data.stateDir, now, log, later, adopt: imports.adopt, upkeep: (work) => desk.upkeep(work) });
  const background = createBackground({
    db,
    sql,
    files,
    importing: imports.steps,
    imported: imports.finish,
    // What was put off before the store failed must not touch the disk after it.
    later: (ms, fn) => later(ms, () => desk.upkeep(fn)),
    failed: (error) => desk.fail(error),
    mover: createLogMover(data.file),
    resume: () => writer.accept({ type: "batch", commits: [], reads: [] }),
  });
  const groups = createGroups(db, sql);
  const desk = createDesk({ sql, groups, files, background, post, now, markSuspect: (reason) => markSuspect(data.file, reason) });
  const queue = createQueue(() => receiveMessageOnPort(port)?.message as Request | undefined);
  const writer = createWriter({ db, desk, queue, files, background, witness: () => openWitness(data.file), closed: () => port.close() });
  return writer;
}

function startReader(data: OpenRequest): { accept(request: Request): void } {
  const db = openReader(data.file);
  const context = { sql: createStatements(db), told: new Map() };
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

async function open(data: OpenRequest): Promise<void> {
  try {
    const thread = data.mode === "write" ? await startWriter(data) : startReader(data);
    const care = createMemoryCare({ clock: systemClock, isBusy: () => false, leastBytes: MUCH_HELD, muchBytes: MUCH_HELD });
    accept = (request) => {
      thread.accept(request);
      care.touched();
    };
    post({ type: "opened" });
    if (data.watch) watchMainThread(data.watch, log);
    if (data.mode === "write") thread.accept({ type: "batch", commits: [], reads: [] });
    for (const request of early.splice(0)) thread.accept(request);
  } catch (error) {
    post({ type: "refused", error: errorMessage(storeError("the store could not be opened", error)) });
    port.close();
  }
}

/** What arrives while the database is being opened. */
const early: Request[] = [];
let accept = (request: Request): void => void early.push(request);
port.on("message", (message: OpenRequest | Request) => (message.type === "open" ? void open(message) : accept(message)));
