/** The thread that does one job of a backup and ends: walking folders, hashing and packing hold up nothing else. */
import { parentPort, workerData } from "node:worker_threads";
import { systemClock } from "../../../base/clock.ts";
import { AppError, messageOf } from "../../../base/errors.ts";
import { createBackup } from "../create.ts";
import { verifyBackup } from "../read.ts";
import { prepareRestore } from "../restore.ts";
import type { BackupWork, ThreadMessage } from "../in-thread.ts";
import type { Progress } from "../types.ts";

/** Progress is sent this often. */
const EVERY_MS = 100;

const send = (message: ThreadMessage): void => parentPort?.postMessage(message);

function reporter(): Progress {
  let last = 0;
  return (done, total, label) => {
    const now = systemClock.monotonic();
    if (now - last < EVERY_MS) return;
    last = now;
    send({ kind: "progress", done, total, label });
  };
}

async function carryOut(work: BackupWork): Promise<unknown> {
  const progress = reporter();
  if (work.kind === "verify") {
    const { manifest, ...report } = await verifyBackup({ ...work.options, progress });
    return { ...report, ...(manifest ? { createdAt: manifest.createdAt, madeBy: manifest.madeBy, files: manifest.files.length } : {}) };
  }
  const clock = { ...systemClock, now: () => work.at };
  if (work.kind === "create") return createBackup({ ...work.options, clock, progress });
  // Not disposed: who asked for it puts it in place, or removes it.
  const { stateDir, staging, stamp, files } = await prepareRestore({ ...work.options, clock, progress });
  return { stateDir, staging, stamp, files };
}

void carryOut(workerData as BackupWork).then(
  (result) => send({ kind: "done", result }),
  (error: unknown) => send({ kind: "failed", code: error instanceof AppError ? error.code : "INTERNAL", message: messageOf(error) }),
);
