import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";

/** Why a gateway was killed, written by its watchdog. The next start reads it. */
export interface ExitNote {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly pid: number;
  /** For people. */
  readonly message: string;
  readonly pluginId?: string | undefined;
  /** `hook before_tool_call`, `tool work`, … */
  readonly what?: string | undefined;
}

const fileIn = (stateDir: string): string => join(stateDir, "last-exit.json");

/** On disk when this returns. Never throws: the caller is about to end the process. */
export function leaveExitNote(stateDir: string, note: ExitNote): void {
  try {
    const file = fileIn(stateDir);
    const fd = openSync(`${file}.tmp`, "w", 0o600);
    writeSync(fd, `${JSON.stringify(note)}\n`);
    fsyncSync(fd);
    closeSync(fd);
    renameSync(`${file}.tmp`, file);
  } catch {
    // The line on stderr has to do.
  }
}

/** The note of the previous process; undefined when there is no readable one. */
export function readExitNote(stateDir: string): ExitNote | undefined {
  try {
    const note: Partial<ExitNote> | null = JSON.parse(readFileSync(fileIn(stateDir), "utf8"));
    return typeof note?.message === "string" && typeof note.at === "number" ? { pid: 0, ...note, at: note.at, message: note.message } : undefined;
  } catch {
    return undefined; // Usually there is none.
  }
}

export function removeExitNote(stateDir: string): void {
  rmSync(fileIn(stateDir), { force: true });
}
