import { createHash } from "node:crypto";
import {
  closeSync,
  constants,
  createReadStream,
  createWriteStream,
  existsSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { open, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { AppError, fileError, systemCode } from "../../base/errors.ts";
import { failpoint } from "../../base/failpoints.ts";
import { ensureFolder, isInside, syncFolder } from "../../base/files.ts";
import { encrypting } from "./age.ts";
import { configContents, DATABASE, stateContents, workspaceContents, type SourceFile } from "./contents.ts";
import { snapshot } from "./database.ts";
import { manifestText } from "./manifest.ts";
import { sealing } from "./seal.ts";
import { padding, TAR_END, tarHeader } from "./tar.ts";
import type { BackupOptions, BackupReport, Manifest, ManifestFile, ManifestWorkspace } from "./types.ts";

interface Work {
  readonly options: BackupOptions;
  readonly sources: readonly SourceFile[];
  readonly left: { path: string; reason: string }[];
  readonly workspaces: readonly ManifestWorkspace[];
  readonly files: ManifestFile[];
  total: number;
  done: number;
}

function advance(work: Work, bytes: number, label: string): void {
  work.done += bytes;
  work.options.progress?.(work.done, Math.max(work.total, work.done), label);
}

/** Reads exactly the size that the file had when it was opened: transcripts grow while they are read, and the list of sessions is replaced. */
async function* bytesOf(fd: number, path: string, size: number): AsyncGenerator<Buffer> {
  if (size === 0) return;
  let rest = size;
  const pieces: AsyncIterable<Buffer> = createReadStream(path, { fd, autoClose: false, start: 0, end: size - 1, highWaterMark: 256 * 1024 });
  for await (const piece of pieces) {
    rest -= piece.length;
    yield piece;
  }
  if (rest > 0) throw new AppError("CONFLICT", `${path} became shorter while it was read; create the backup again`);
}

/** Undefined when it no longer exists, or is not a file. */
function openFile(path: string): (Disposable & { readonly fd: number; readonly size: number }) | undefined {
  if (lstatSync(path, { throwIfNoEntry: false })?.isFile() !== true) return undefined;
  try {
    const fd = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
    return { fd, size: fstatSync(fd).size, [Symbol.dispose]: () => closeSync(fd) };
  } catch (error) {
    if (systemCode(error) === "ENOENT") return undefined;
    throw fileError(path, "could not read", error);
  }
}

/** Each file with its bytes, hashed in passing. A file that was removed in the meantime is noted and left out. */
async function* contents(work: Work): AsyncGenerator<{ readonly file: SourceFile; readonly body: AsyncIterable<Buffer> }> {
  for (const source of work.sources) {
    using opened = openFile(source.path);
    if (!opened) {
      work.left.push({ path: source.name, reason: "removed while the backup was created" });
      continue;
    }
    const { fd, size } = opened;
    const hash = createHash("sha256");
    const body = (async function* () {
      for await (const piece of bytesOf(fd, source.path, size)) {
        hash.update(piece);
        advance(work, piece.length, source.name);
        yield piece;
      }
    })();
    yield { file: { ...source, size }, body };
    work.files.push({ path: source.name, size, sha256: hash.digest("hex"), mode: source.mode });
  }
}

function manifestOf(work: Work, at: number): Buffer {
  const { options } = work;
  const main = options.configFiles[0];
  const manifest: Manifest = {
    format: "openclaw-backup",
    version: work.workspaces.length > 0 ? 3 : 2,
    madeBy: options.madeBy,
    createdAt: new Date(at).toISOString(),
    stateDir: options.stateDir,
    ...(main !== undefined && !isInside(options.stateDir, main) ? { configFile: main } : {}),
    workspaceIncluded: options.includeWorkspace === true,
    ...(work.workspaces.length > 0 ? { workspaces: work.workspaces } : {}),
    left: work.left,
    files: work.files,
  };
  return manifestText(manifest);
}

async function* tarStream(work: Work, at: number): AsyncGenerator<Buffer> {
  const mtime = at / 1000;
  for await (const { file, body } of contents(work)) {
    yield tarHeader({ name: file.name, size: file.size, mode: file.mode, mtime });
    yield* body;
    yield padding(file.size);
  }
  const manifest = manifestOf(work, at);
  yield tarHeader({ name: "manifest.json", size: manifest.length, mode: 0o600, mtime });
  yield manifest;
  yield padding(manifest.length);
  yield TAR_END;
}

async function syncFile(path: string): Promise<void> {
  const file = await open(path, "r+");
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

async function writeArchive(work: Work, path: string, at: number): Promise<void> {
  const { createGzip } = await import("node:zlib");
  const packed = Readable.from(tarStream(work, at), { objectMode: true });
  const { passphrase } = work.options;
  const encryption = passphrase === undefined ? undefined : await encrypting(passphrase);
  const target = createWriteStream(path, { flags: "wx", mode: 0o600 });
  if (encryption) target.write(encryption.head);
  const sealed = sealing();
  await Promise.all([pipeline(packed, createGzip({ level: 6 }), sealed), encryption ? pipeline(sealed, encryption.stream, target) : pipeline(sealed, target)]);
  await syncFile(path);
}

async function writeFolder(work: Work, path: string, at: number): Promise<void> {
  mkdirSync(path, { mode: 0o700 });
  const folders = new Set<string>([path]);
  for await (const { file, body } of contents(work)) {
    const target = join(path, file.name);
    ensureFolder(dirname(target));
    for (let folder = dirname(target); isInside(path, folder); folder = dirname(folder)) folders.add(folder);
    await pipeline(Readable.from(body, { objectMode: true }), createWriteStream(target, { flags: "wx", mode: 0o600 }));
    await syncFile(target);
  }
  await writeFile(join(path, "manifest.json"), manifestOf(work, at), { flag: "wx", mode: 0o600, flush: true });
  for (const folder of folders) syncFolder(folder);
}

const nameOf = (at: number): string => `openclaw-backup-${new Date(at).toISOString().replaceAll(":", "-")}`;
const scratchOf = (at: number): string => `.${nameOf(at)}.tmp-`;

/** A temporary folder that is older than this belongs to no process. */
export const STALE_MS = 86_400_000;

function removeScratch(folder: string, isLeft: (name: string, path: string) => boolean): void {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (/^\.openclaw-backup-.*\.tmp-/.test(name) && isLeft(name, path)) rmSync(path, { recursive: true, force: true });
  }
}

/** Removes what the backup that began at this time left in its folder, when it was cut off. */
export function removeUnfinished(into: string, at: number): void {
  if (existsSync(into)) removeScratch(into, (name) => name.startsWith(scratchOf(at)));
}

/**
 * Makes a backup while the gateway runs. The database comes first, then the files: transcripts may be ahead of it, and are imported again
 * when restored. The backup gets its name only when it is complete and on disk.
 */
export async function createBackup(raw: BackupOptions): Promise<BackupReport> {
  const options = { ...raw, stateDir: resolve(raw.stateDir), into: resolve(raw.into) };
  const at = options.clock.now();
  const name = nameOf(at);
  if (options.form === "folder" && options.passphrase !== undefined)
    throw new AppError("INVALID_INPUT", "a backup that is a folder cannot be encrypted; leave out --folder or the passphrase");
  const path = join(options.into, `${name}${options.form === "folder" ? "" : options.passphrase === undefined ? ".tar.gz" : ".tar.gz.age"}`);
  if (existsSync(path)) throw new AppError("CONFLICT", `${path} already exists; choose another folder`);
  ensureFolder(options.into);
  // A killed backup leaves a copy of everything: it is removed after a day, when it cannot be in use any more.
  removeScratch(options.into, (_, path) => at - statSync(path).mtimeMs > STALE_MS);
  const scratch = mkdtempSync(join(options.into, scratchOf(at)));
  try {
    const work = await prepare(options, scratch);
    const temporary = join(scratch, "backup");
    await (options.form === "folder" ? writeFolder(work, temporary, at) : writeArchive(work, temporary, at));
    failpoint("backup.written");
    renameSync(temporary, path);
    syncFolder(options.into);
    return { path, files: work.files.length, bytes: work.files.reduce((sum, file) => sum + file.size, 0), left: work.left };
  } catch (error) {
    throw fileError(path, "could not create the backup", error);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

async function prepare(options: BackupOptions, scratch: string): Promise<Work> {
  const { files, left } = stateContents(options.stateDir, options.includeWorkspace === true);
  const outside = workspaceContents(options.stateDir, options.workspaces ?? [], options.includeWorkspace === true);
  const kept = [...files, ...outside.files].filter(({ path }) => !isInside(scratch, path));
  const sources = [...kept, ...configContents(options.stateDir, options.configFiles)];
  const total = sources.reduce((sum, { size }) => sum + size, 0);
  const work: Work = { options, sources, left: [...left, ...outside.left], workspaces: outside.workspaces, files: [], total, done: 0 };
  const database = join(options.stateDir, DATABASE);
  const size = statSync(database, { throwIfNoEntry: false })?.size;
  if (size === undefined) return work;
  const copy = join(scratch, DATABASE);
  // Copying and packing both take time, so both count.
  work.total += 2 * size;
  await snapshot(database, copy, options.clock, (bytes) => options.progress?.(Math.min(bytes, size), work.total, "database"));
  const copied = statSync(copy).size;
  work.total += copied - size;
  advance(work, size, "database");
  return { ...work, sources: [{ path: copy, name: `state/${DATABASE}`, size: copied, mode: 0o600 }, ...sources] };
}
