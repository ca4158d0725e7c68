import { lstatSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";

/** `openclaw-YYYY-MM-DD.log` of the local date. */
function datedName(time: number): string {
  const date = new Date(time);
  const pad = (value: number): string => String(value).padStart(2, "0");
  return `openclaw-${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}.log`;
}

/** True when nobody but us can have put something there: a predictable name in a shared folder is an invitation. */
function isOurs(folder: string): boolean {
  try {
    const stat = lstatSync(folder);
    return stat.isDirectory() && (process.getuid === undefined || stat.uid === process.getuid()) && (stat.mode & 0o022) === 0;
  } catch {
    return true;
  }
}

export interface LogFileChoice {
  /** `logging.file`. */
  readonly configured?: string | undefined;
  readonly stateDir: string;
}

/**
 * Where the log goes at a given time: `logging.file`; for the default state folder `<tmp>/openclaw/`, as documented; for any other state folder, or when
 * that folder belongs to another user, `logs/` in the state folder, so that two gateways never share a file.
 */
export function logFileAt({ configured, stateDir }: LogFileChoice): (time: number) => string {
  if (configured) return () => configured;
  const shared = join(tmpdir(), "openclaw");
  const folder = stateDir === join(homedir(), ".openclaw") && isOurs(shared) ? shared : join(stateDir, "logs");
  return (time) => join(folder, datedName(time));
}
