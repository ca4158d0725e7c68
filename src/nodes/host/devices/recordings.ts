/** Where recordings are while they are made. A process that is killed leaves them behind, and its recorder goes on: the next start ends both. */
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { messageOf, systemCode } from "../../../base/errors.ts";
import { ensureFolder, writeAtomic } from "../../../base/files.ts";
import type { Logger } from "../../../base/log/logger.ts";
import { identify, isRunning, type ProcessIdentity } from "../../../base/process-identity.ts";
import { isRecord } from "../../../base/records.ts";

/** Below the node's own folder, which only its user may enter. */
const recordingsFolder = (nodeFolder: string): string => join(nodeFolder, "recordings");

const RECORDER = "recorder.json";

/** A folder for one recording, which is removed with it. */
export interface RecordingFolder extends AsyncDisposable {
  readonly path: string;
  /** Notes the program that writes the recording, so that the next start can end it. Without the note it ends by itself, when the recording is over. */
  started(pid: number): void;
}

export async function openRecordingFolder(nodeFolder: string): Promise<RecordingFolder> {
  const recordings = recordingsFolder(nodeFolder);
  ensureFolder(recordings);
  const path = await mkdtemp(join(recordings, "recording-"));
  return {
    path,
    // Whole or not there: a process that is killed here leaves no half of a note.
    started: (pid) => writeAtomic(join(path, RECORDER), JSON.stringify(identify(pid)), { temporary: join(path, `${RECORDER}.new`) }),
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  };
}

/** Removes what a killed process of this node left, and ends what still records for it. To be called while no other process runs as this node. */
export function removeFormerRecordings(nodeFolder: string, log: Pick<Logger, "warn">): void {
  for (const path of foldersIn(recordingsFolder(nodeFolder))) {
    try {
      endRecorder(join(path, RECORDER));
      rmSync(path, { recursive: true, force: true });
    } catch (error) {
      log.warn(`a recording that an earlier process left could not be removed from ${path}; delete it: ${messageOf(error)}`);
    }
  }
}

function foldersIn(recordings: string): readonly string[] {
  try {
    return readdirSync(recordings).map((name) => join(recordings, name));
  } catch (error) {
    if (systemCode(error) === "ENOENT") return [];
    throw error;
  }
}

/** Process ids are reused: only a process with the noted start is ended. */
function endRecorder(file: string): void {
  const recorder = readIdentity(file);
  if (recorder?.startTime === undefined || recorder.bootId === undefined || !isRunning(recorder)) return;
  try {
    process.kill(-recorder.pid, "SIGKILL");
  } catch (error) {
    if (systemCode(error) !== "ESRCH") throw error;
  }
}

function readIdentity(file: string): ProcessIdentity | undefined {
  try {
    const found: unknown = JSON.parse(readFileSync(file, "utf8"));
    return isRecord(found) && Number.isInteger(found["pid"]) && Number(found["pid"]) > 1 ? (found as unknown as ProcessIdentity) : undefined;
  } catch {
    return undefined;
  }
}
