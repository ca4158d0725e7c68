import {
  constants,
  copyFileSync,
  cpSync,
  createWriteStream,
  existsSync,
  linkSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  statfsSync,
  statSync,
} from "node:fs";
import { open } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { AppError, fileError } from "../../base/errors.ts";
import { failpoint } from "../../base/failpoints.ts";
import { ensureFolder, syncFolder, writeAtomic } from "../../base/files.ts";
import { BACKUPS, DATABASE, isCarried } from "./contents.ts";
import { STALE_MS } from "./create.ts";
import { integrityProblems } from "./database.ts";
import { readBackup } from "./read.ts";
import type { ArchivedFile } from "./tar-reader.ts";
import type { ManifestWorkspace, RestoreOptions, RestoreReport } from "./types.ts";

const MAX_FILES = 5_000_000;
const CONFIG_FOLDER = "restored-config";
const WORKSPACES_FOLDER = "restored-workspaces";
/** The manifest's fields about files outside of the state folder. */
const OUTSIDE = "restored-from.json";
/** Written last into a folder that is ready to be swapped in. */
export const READY = "restore.json";

async function refuseWhileHeld(options: RestoreOptions): Promise<void> {
  if (await options.isHeld()) throw new AppError("LOCKED", `a gateway is using ${options.stateDir}; stop it and restore again`);
}

/** Where a file of the backup goes in the new state folder; undefined for files that do not belong there. */
function pathInState(name: string): string | undefined {
  if (name === `state/${READY}` || name === `state/${OUTSIDE}`) return undefined;
  if (name.startsWith("state/")) return name.slice("state/".length);
  if (name.startsWith("workspaces/")) return `${WORKSPACES_FOLDER}/${name.slice("workspaces/".length)}`;
  return name.startsWith("config/") ? `${CONFIG_FOLDER}/${name.slice("config/".length)}` : undefined;
}

async function unpackFile(staging: string, file: ArchivedFile, body: AsyncIterable<Buffer>): Promise<void> {
  const relative = pathInState(file.name);
  if (relative === undefined) throw new AppError("INVALID_INPUT", `not a backup of this program: ${file.name} does not belong in a state folder`);
  const target = join(staging, relative);
  ensureFolder(dirname(target));
  await pipeline(body, createWriteStream(target, { flags: "wx", mode: 0o600 | (file.mode & 0o100) }));
  const written = await open(target, "r+");
  try {
    await written.sync();
  } finally {
    await written.close();
  }
}

/** Unpacks and checks everything; throws when anything is wrong. */
async function unpack(options: Omit<RestoreOptions, "isHeld">, staging: string): Promise<number> {
  const disk = statfsSync(dirname(staging));
  const maxBytes = options.maxBytes ?? disk.bavail * disk.bsize;
  const { files, problems, manifest } = await readBackup(options.backup, {
    limits: { maxBytes, maxFiles: MAX_FILES },
    passphrase: options.passphrase,
    progress: options.progress,
    take: (file, body) => unpackFile(staging, file, body),
  });
  const database = join(staging, DATABASE);
  const damage = problems.length === 0 && existsSync(database) ? await integrityProblems(database) : [];
  const all = [...problems, ...damage];
  if (all.length > 0) {
    throw new AppError("INVALID_INPUT", `the backup cannot be restored: ${all.slice(0, 5).join("; ")}. The state folder was not touched`, {
      details: { problems: all.slice(0, 100) },
    });
  }
  const { configFile, workspaces = [] } = manifest ?? {};
  if (configFile !== undefined || workspaces.length > 0)
    writeAtomic(join(staging, OUTSIDE), `${JSON.stringify({ configFile, workspaces } satisfies Outside, null, 2)}\n`, {
      temporary: join(staging, `.${OUTSIDE}.tmp`),
    });
  return files;
}

interface Outside {
  readonly configFile?: string | undefined;
  readonly workspaces: readonly ManifestWorkspace[];
}

/** A second name for each file: backups are large and never change. */
function linkFiles(from: string, to: string): void {
  ensureFolder(to);
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) linkFiles(source, target);
    else if (entry.isFile()) {
      try {
        linkSync(source, target);
      } catch {
        // A file system without links.
        copyFileSync(source, target);
      }
    }
  }
}

/** Copies what backups leave out and agents need. A copy, so that the old folder stays complete. */
function carryOver(stateDir: string, staging: string): string[] {
  if (!existsSync(stateDir)) return [];
  const names = readdirSync(stateDir).filter((name) => isCarried(name) && !existsSync(join(staging, name)));
  for (const name of names) {
    if (name === BACKUPS) linkFiles(join(stateDir, name), join(staging, name));
    else
      cpSync(join(stateDir, name), join(staging, name), {
        recursive: true,
        verbatimSymlinks: true,
        preserveTimestamps: true,
        mode: constants.COPYFILE_FICLONE,
      });
  }
  return names;
}

function syncFolders(folder: string): void {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) if (entry.isDirectory()) syncFolder(join(entry.parentPath, entry.name));
  syncFolder(folder);
}

/** Replaces the old folder by the new one. Between the two renames neither is in place: `finishRestore` completes that. */
function swap(stateDir: string, staging: string, kept: string): string | undefined {
  let moved: string | undefined;
  if (existsSync(stateDir)) {
    if (readdirSync(stateDir).length === 0) rmdirSync(stateDir);
    else renameSync(stateDir, (moved = kept));
  }
  failpoint("restore.moved");
  try {
    renameSync(staging, stateDir);
  } catch (error) {
    // Another command may have completed it at this very moment.
    if (existsSync(staging) || !existsSync(join(stateDir, READY))) {
      if (moved !== undefined) renameSync(moved, stateDir);
      throw error;
    }
  }
  syncFolder(dirname(stateDir));
  failpoint("restore.swapped");
  return moved;
}

/** Names beside a state folder that belong to one restore. */
export function restorePaths(stateDir: string, stamp: string): { readonly staging: string; readonly kept: string; readonly failed: string } {
  return { staging: `${stateDir}.restore-${stamp}`, kept: `${stateDir}.before-restore-${stamp}`, failed: `${stateDir}.failed-restore-${stamp}` };
}

/** A backup that was unpacked beside the state folder and verified. Disposing removes it, unless it was put in place. */
export interface PreparedRestore extends Disposable {
  /** The folder that it replaces; links are resolved. */
  readonly stateDir: string;
  readonly staging: string;
  readonly stamp: string;
  readonly files: number;
  /** Replaces the state folder, which must not be in use. */
  finish(): RestoreReport;
}

/** Puts a prepared folder in place. `files` are copied from the old folder as well: the lock of the calling process. */
export function putInPlace(stateDir: string, stamp: string, at: number, backup: string, files: readonly string[] = []): Omit<RestoreReport, "files"> {
  const { staging, kept: keptName } = restorePaths(stateDir, stamp);
  const carried = carryOver(stateDir, staging);
  for (const name of files) if (existsSync(join(stateDir, name))) copyFileSync(join(stateDir, name), join(staging, name));
  syncFolders(staging);
  const record = { backup, restoredAt: new Date(at).toISOString(), carried };
  writeAtomic(join(staging, READY), `${JSON.stringify(record, null, 2)}\n`, { temporary: join(staging, `.${READY}.tmp`) });
  const kept = swap(stateDir, staging, keptName);
  return { ...restoredIn(stateDir), ...(kept === undefined ? {} : { kept }) };
}

/** The restore report in a restored state folder. */
export function restoredIn(stateDir: string): Omit<RestoreReport, "files" | "kept"> {
  const { carried = [] }: { readonly carried?: readonly string[] } = JSON.parse(readFileSync(join(stateDir, READY), "utf8"));
  const configFolder = existsSync(join(stateDir, CONFIG_FOLDER)) ? join(stateDir, CONFIG_FOLDER) : undefined;
  const from = join(stateDir, OUTSIDE);
  const outside: Outside = existsSync(from) ? JSON.parse(readFileSync(from, "utf8")) : { workspaces: [] };
  const folderOf = (name: string): string => join(stateDir, WORKSPACES_FOLDER, basename(name));
  return {
    stateDir,
    carried,
    ...(configFolder === undefined ? {} : { configFolder }),
    ...(outside.configFile === undefined ? {} : { configFile: outside.configFile }),
    workspaces: outside.workspaces.map(({ name, path }) => ({ folder: folderOf(name), path })).filter(({ folder }) => existsSync(folder)),
  };
}

/** A state folder may be a link: its target is replaced, the link stays. */
const folderItself = (stateDir: string): string => (existsSync(stateDir) ? realpathSync(stateDir) : resolve(stateDir));

const stampOf = (at: number): string => new Date(at).toISOString().replaceAll(":", "-");

/** Removes what the restore that began at this time unpacked, when it was cut off before anything was moved. */
export function removeUnpacked(stateDir: string, at: number): void {
  const folder = folderItself(stateDir);
  if (existsSync(folder)) rmSync(restorePaths(folder, stampOf(at)).staging, { recursive: true, force: true });
}

/** A killed restore leaves a copy of everything beside a state that is in its place: it is removed after a day, when nobody can want it any more. */
function removeStale(stateDir: string, now: number): void {
  if (!existsSync(stateDir)) return;
  const prefix = `${basename(stateDir)}.restore-`;
  for (const name of readdirSync(dirname(stateDir))) {
    const path = join(dirname(stateDir), name);
    if (name.startsWith(prefix) && now - statSync(path).mtimeMs > STALE_MS) rmSync(path, { recursive: true, force: true });
  }
}

/** Unpacks a backup beside the state folder and verifies it. The state folder is not touched and may be in use. */
export async function prepareRestore(options: Omit<RestoreOptions, "isHeld">): Promise<PreparedRestore> {
  const stateDir = folderItself(options.stateDir);
  finishRestore(stateDir);
  const at = options.clock.now();
  removeStale(stateDir, at);
  const stamp = stampOf(at);
  const { staging } = restorePaths(stateDir, stamp);
  if (existsSync(staging)) throw new AppError("CONFLICT", `${staging} already exists; remove it and restore again`);
  const remove = (): void => {
    // After a swap it is gone. When neither folder could be put in place, it is one of the two left for manual recovery.
    if (existsSync(stateDir) || !existsSync(join(staging, READY))) rmSync(staging, { recursive: true, force: true });
  };
  try {
    ensureFolder(staging);
    const files = await unpack(options, staging);
    return {
      stateDir,
      staging,
      stamp,
      files,
      finish() {
        try {
          return { ...putInPlace(stateDir, stamp, at, resolve(options.backup)), files };
        } catch (error) {
          throw fileError(stateDir, "could not restore", error);
        }
      },
      [Symbol.dispose]: remove,
    };
  } catch (error) {
    remove();
    throw fileError(stateDir, "could not restore", error);
  }
}

/**
 * Restores a state folder that is not in use. The backup is unpacked beside it and verified before anything is moved; the old
 * folder is preserved as `<state>.before-restore-<time>`.
 */
export async function restoreBackup(options: RestoreOptions): Promise<RestoreReport> {
  await refuseWhileHeld(options);
  using prepared = await prepareRestore(options);
  await refuseWhileHeld(options);
  return prepared.finish();
}

/**
 * Completes a restore that died between its two renames: the new folder, ready and verified, is put in place. Does nothing otherwise, so it may
 * run at every start. Returns the folder that was put in place.
 */
export function finishRestore(stateDir: string): string | undefined {
  const target = resolve(stateDir);
  const parent = dirname(target);
  if (existsSync(target) || !existsSync(parent)) return undefined;
  const [restoring, before] = [`${basename(target)}.restore-`, `${basename(target)}.before-restore-`];
  const names = new Set(readdirSync(parent));
  const found = [...names]
    .filter((name) => name.startsWith(restoring) && names.has(before + name.slice(restoring.length)) && existsSync(join(parent, name, READY)))
    .sort()
    .pop();
  if (found === undefined) return undefined;
  renameSync(join(parent, found), target);
  syncFolder(parent);
  return join(parent, found);
}
