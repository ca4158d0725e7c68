import { closeSync, existsSync, fsyncSync, openSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { AppError, fileError, systemCode } from "../../base/errors.ts";
import { syncFolder } from "../../base/files.ts";
import { isRunning } from "../../base/process-identity.ts";
import { isObject, valueAt } from "../../config/index.ts";

/**
 * One change of a plugin's files that is under way. It is written before the first file is moved and removed after the last, so that the next process
 * finishes what a process that died has begun. The configuration decides which way: it is written once, between the moving and the tidying up.
 */
export interface JournalEntry {
  readonly kind: "install" | "remove";
  readonly ids: readonly string[];
  /** Names in the folder of plugins. */
  readonly target: string;
  /** What stood at `target` before; undefined when nothing did. */
  readonly backup?: string | undefined;
  /** Of the new record: the configuration that has it is the new one. */
  readonly installedAt?: string | undefined;
  readonly pid: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

const JOURNAL = /^\.change-.*\.json$/;
export const STAGING = /^\.staging-(\d+)-[0-9a-f]+$/;
/** A living process that has held a journal for so long is another one with the same number. */
const LONGEST_MS = 300_000;

const journalPath = (folder: string, target: string): string => join(folder, `.change-${target.replace(/^\./, "")}.json`);

/** Begins a change. Throws `CONFLICT` while another one of the same plugin is under way. */
export function beginChange(folder: string, entry: JournalEntry): Disposable {
  const path = journalPath(folder, entry.target);
  try {
    const fd = openSync(path, "wx", 0o600);
    try {
      writeFileSync(fd, JSON.stringify(entry));
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    syncFolder(folder);
  } catch (error) {
    if (systemCode(error) === "EEXIST")
      throw new AppError("CONFLICT", `${entry.target} is being installed or removed by another process; try again when it has finished`);
    throw fileError(path, "could not start the change", error);
  }
  return {
    [Symbol.dispose]() {
      rmSync(path, { force: true });
      syncFolder(folder);
    },
  };
}

/** Where installs are: their folder below the state folder, and their records in the configuration. */
const AREAS = {
  plugins: { folder: "extensions", installs: ["plugins", "installs"], entries: ["plugins", "entries"] },
  hooks: { folder: "hooks", installs: ["hooks", "internal", "installs"], entries: ["hooks", "internal", "entries"] },
} as const;

export interface RecoveryOptions {
  readonly stateDir: string;
  /** The configuration as it is written now. */
  readonly config: () => unknown;
  readonly now: number;
  /** What was installed; plugins when left out. */
  readonly what?: keyof typeof AREAS;
  /** Whether a process with this number runs. */
  readonly isAlive?: (pid: number) => boolean;
}

/**
 * Finishes or takes back what a process has begun and not ended: afterwards every plugin is the old one or the new one, as the configuration says. Costs one
 * look at a folder when there is nothing to do. Gives what was done, for the log.
 */
export function recoverInstalls({ stateDir, config, now, what = "plugins", isAlive = (pid) => isRunning({ pid }) }: RecoveryOptions): readonly string[] {
  const folder = join(stateDir, AREAS[what].folder);
  const done: string[] = [];
  for (const name of namesIn(folder)) {
    const path = join(folder, name);
    const staging = STAGING.exec(name);
    if (staging && !isAlive(Number(staging[1]))) rmSync(path, { recursive: true, force: true });
    if (!JOURNAL.test(name)) continue;
    const entry = readEntry(path);
    if (entry && isAlive(entry.pid) && now - entry.at < LONGEST_MS) continue;
    if (entry) done.push(settle(folder, entry, config(), what));
    rmSync(path, { force: true });
    syncFolder(folder);
  }
  return done;
}

/** Makes the files fit the configuration. */
export function settle(
  folder: string,
  { kind, ids, target, backup, installedAt }: JournalEntry,
  config: unknown,
  what: keyof typeof AREAS = "plugins",
): string {
  const { installs, entries } = AREAS[what];
  const at = join(folder, target);
  const old = backup === undefined ? undefined : join(folder, backup);
  const oldIsAside = old !== undefined && existsSync(old);
  const committed =
    kind === "install"
      ? ids.some((id) => valueAt(config, [...installs, id, "installedAt"]) === installedAt)
      : ids.every((id) => valueAt(config, [...installs, id]) === undefined && valueAt(config, [...entries, id]) === undefined);
  const ready = kind === "remove" || existsSync(at);
  if (committed && ready) {
    if (oldIsAside) rmSync(old, { recursive: true, force: true });
    return `${target}: the interrupted ${kind === "install" ? "install" : "uninstall"} was completed`;
  }
  // What stands there is the new one only when the old one was moved aside, or when there was none.
  if (kind === "install" && (oldIsAside || old === undefined)) rmSync(at, { recursive: true, force: true });
  if (oldIsAside) renameSync(old, at);
  return `${target}: the interrupted ${kind === "install" ? "install" : "uninstall"} was rolled back`;
}

function isJournalEntry(value: unknown): value is JournalEntry {
  if (!isObject(value) || (value["kind"] !== "install" && value["kind"] !== "remove")) return false;
  const { target, backup, ids } = value;
  const plain = (name: unknown): boolean => typeof name === "string" && name !== "" && basename(name) === name && name !== "." && name !== "..";
  return plain(target) && (backup === undefined || plain(backup)) && Array.isArray(ids);
}

function readEntry(path: string): JournalEntry | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(path, "utf8"));
    return isJournalEntry(value) ? value : undefined;
  } catch {
    return undefined; // It was being written: nothing had been moved.
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter((name) => JOURNAL.test(name) || STAGING.test(name));
  } catch {
    return []; // Nothing was ever installed.
  }
}
