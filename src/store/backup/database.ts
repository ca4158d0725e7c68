import { statSync } from "node:fs";
import { Worker } from "node:worker_threads";
import type { Clock } from "../../base/clock.ts";
import { AppError, messageOf } from "../../base/errors.ts";
import { isDamage, storeError } from "../sqlite/failure.ts";
import { markSuspect } from "../sqlite/open.ts";

/** How often the size of a growing snapshot is checked. */
const POLL_MS = 100;

/** Both statements block their thread for as long as the database is large: each runs in a thread of its own. */
const SNAPSHOT = `
const { workerData, parentPort } = require("node:worker_threads");
const { DatabaseSync } = require("node:sqlite");
const db = new DatabaseSync(workerData.file, { readOnly: true, timeout: 10000 });
db.prepare("VACUUM INTO ?").run(workerData.target);
db.close();
parentPort.postMessage([]);
`;
const CHECK = `
const { workerData, parentPort } = require("node:worker_threads");
const { DatabaseSync } = require("node:sqlite");
const db = new DatabaseSync(workerData.file, { readOnly: true });
const rows = db.prepare("PRAGMA integrity_check(20)").all().map((row) => row.integrity_check);
db.close();
parentPort.postMessage(rows);
`;

function inThread(code: string, workerData: Readonly<Record<string, string>>): Promise<readonly string[]> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(code, { eval: true, workerData, execArgv: [] });
    worker.once("message", resolve);
    worker.once("error", reject);
    worker.once("exit", (code) => reject(new AppError("INTERNAL", `the database thread exited with code ${code}`)));
  });
}

/** Copies a database that may be in use: one read transaction, writers go on. `target` must not exist. */
export async function snapshot(file: string, target: string, clock: Clock, progress: (bytes: number) => void): Promise<void> {
  let timer: Disposable | undefined;
  const poll = (): void => {
    progress(statSync(target, { throwIfNoEntry: false })?.size ?? 0);
    timer = clock.after(POLL_MS, poll);
  };
  poll();
  try {
    await inThread(SNAPSHOT, { file, target });
  } catch (error) {
    if (isDamage(error)) markSuspect(file, messageOf(error));
    throw storeError(`could not copy ${file} to ${target}`, error);
  } finally {
    timer?.[Symbol.dispose]();
  }
}

/** Problems that SQLite finds in a database file; empty when it is sound. */
export async function integrityProblems(file: string): Promise<readonly string[]> {
  try {
    const found = await inThread(CHECK, { file });
    return found.length === 1 && found[0] === "ok" ? [] : found;
  } catch (error) {
    return [messageOf(error)];
  }
}
