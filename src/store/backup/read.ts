import { createHash } from "node:crypto";
import { closeSync, createReadStream, createWriteStream, lstatSync, mkdtempSync, openSync, readdirSync, readSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative, sep } from "node:path";
import { pipeline } from "node:stream";
import { pipeline as pipe } from "node:stream/promises";
import { AppError, fileError, messageOf, systemCode } from "../../base/errors.ts";
import { decrypting, isEncrypted, passphraseMissing } from "./age.ts";
import { DATABASE } from "./contents.ts";
import { integrityProblems } from "./database.ts";
import { parseManifest } from "./manifest.ts";
import { sealState } from "./seal.ts";
import { safeName } from "./tar.ts";
import { readTar, type ArchivedFile, type ReadLimits } from "./tar-reader.ts";
import type { Manifest, Progress, Unopened, VerifyOptions, VerifyReport } from "./types.ts";

const MANIFEST = "manifest.json";
const MAX_MANIFEST = 256 * 1024 * 1024;

interface HowToRead {
  readonly limits: ReadLimits;
  readonly passphrase?: string | undefined;
  readonly progress?: Progress | undefined;
}

/** Magic that every tar header has at this offset. */
const [USTAR, USTAR_AT] = ["ustar", 257] as const;

function isPlainTar(path: string): boolean {
  const head = Buffer.alloc(USTAR_AT + USTAR.length);
  const file = openSync(path, "r");
  try {
    return readSync(file, head, 0, head.length, 0) === head.length && head.toString("latin1", USTAR_AT) === USTAR;
  } finally {
    closeSync(file);
  }
}

async function* archiveFiles(path: string, { limits, passphrase, progress }: HowToRead): AsyncGenerator<ArchivedFile> {
  const { createGunzip } = await import("node:zlib");
  const isLocked = isEncrypted(path);
  if (isLocked && passphrase === undefined) throw passphraseMissing();
  if (!isLocked && isPlainTar(path))
    throw new AppError("INVALID_INPUT", "this is a tar archive that is not compressed; compress it with gzip, or unpack it and pass the folder", {
      details: { unopened: "not_compressed" satisfies Unopened },
    });
  const opened = isLocked && passphrase !== undefined ? await decrypting(path, passphrase) : undefined;
  const total = statSync(path).size;
  let done = 0;
  let label = "";
  const input = createReadStream(path, { highWaterMark: 256 * 1024, start: opened?.start ?? 0 });
  input.on("data", (piece) => progress?.((done += piece.length), total, label));
  const output = createGunzip();
  const unpacked: AsyncIterable<Buffer> = output;
  const parts = opened ? [input, opened.stream, output] : [input, output];
  pipeline(parts, () => undefined);
  try {
    for await (const file of readTar(unpacked, limits)) {
      label = file.name;
      yield file;
    }
  } finally {
    input.destroy();
    output.destroy();
  }
}

async function* folderFiles(path: string, { limits, progress }: HowToRead): AsyncGenerator<ArchivedFile> {
  const entries = readdirSync(path, { recursive: true, withFileTypes: true }).filter((entry) => !entry.isDirectory());
  const names = entries.map((entry) => safeName(relative(path, join(entry.parentPath, entry.name)).split(sep).join("/")));
  const sized = names.sort().map((name) => ({ name, stat: lstatSync(join(path, name)) }));
  const total = sized.reduce((sum, { stat }) => sum + stat.size, 0);
  if (total > limits.maxBytes || sized.length > limits.maxFiles)
    throw new AppError("OVERLOADED", `the backup holds ${total} bytes in ${sized.length} files: too much`);
  let done = 0;
  for (const { name, stat } of sized) {
    if (!stat.isFile()) throw new AppError("INVALID_INPUT", `not a backup of this program: ${name} is a link or a special file`);
    const body = (async function* () {
      const pieces: AsyncIterable<Buffer> = createReadStream(join(path, name), { highWaterMark: 256 * 1024 });
      for await (const piece of pieces) {
        progress?.((done += piece.length), total, name);
        yield piece;
      }
    })();
    yield { name, size: stat.size, mode: stat.mode & 0o700, body };
  }
}

function compare(manifest: Manifest, found: ReadonlyMap<string, string>): string[] {
  const problems: string[] = [];
  const listed = new Set<string>();
  for (const file of manifest.files) {
    listed.add(file.path);
    const hash = found.get(file.path);
    if (hash === undefined) problems.push(`${file.path} is missing`);
    else if (hash !== file.sha256) problems.push(`${file.path} differs from what was backed up`);
  }
  for (const name of found.keys()) if (!listed.has(name)) problems.push(`${name} is not in the manifest`);
  return problems;
}

export interface ReadResult {
  readonly manifest?: Manifest;
  readonly files: number;
  readonly problems: readonly string[];
  /** It could not be read; the problem says why. */
  readonly unopened?: Unopened;
  readonly notes: readonly string[];
}

/** Reads a whole backup and checks every byte against its manifest. `take` gets the bytes of each file as they come, except the manifest. */
export async function readBackup(
  path: string,
  options: HowToRead & { readonly take: (file: ArchivedFile, body: AsyncIterable<Buffer>) => Promise<void> },
): Promise<ReadResult> {
  const found = new Map<string, string>();
  let manifest: Manifest | undefined;
  let isFolder = false;
  try {
    isFolder = statSync(path).isDirectory();
    const files = isFolder ? folderFiles : archiveFiles;
    for await (const file of files(path, options)) {
      if (file.name === MANIFEST) {
        if (file.size > MAX_MANIFEST) throw new AppError("INVALID_INPUT", "the manifest is too large");
        manifest = parseManifest(Buffer.concat(await Array.fromAsync(file.body)));
        continue;
      }
      const hash = createHash("sha256");
      const hashed = (async function* () {
        for await (const piece of file.body) {
          hash.update(piece);
          yield piece;
        }
      })();
      await options.take(file, hashed);
      found.set(file.name, hash.digest("hex"));
    }
  } catch (error) {
    const unopened = unopenedOf(error);
    return { files: found.size, problems: [problemOf(path, error)], notes: [], ...(manifest ? { manifest } : {}), ...(unopened ? { unopened } : {}) };
  }
  if (!manifest) return { files: found.size, problems: ["there is no manifest: the backup was not finished"], notes: [] };
  const problems = compare(manifest, found);
  const notes: string[] = [];
  // Every byte of an encrypted archive was authenticated when it was decrypted.
  if (problems.length === 0 && manifest.version >= 2 && !isFolder && !isEncrypted(path)) {
    const seal = await sealState(path);
    if (seal === "broken") problems.push("the archive was changed after it was written: its seal does not match");
    if (seal === "none") notes.push("the archive was repacked by another program: its files are unchanged, but it is no longer sealed");
  }
  return { manifest, files: found.size, problems, notes };
}

/** Missing or unreadable files say nothing about the backup, and neither does one that stays encrypted. */
function unopenedOf(error: unknown): Unopened | undefined {
  if (error instanceof AppError) return error.details["unopened"] as Unopened | undefined;
  return ["ENOENT", "ENOTDIR", "EACCES", "EPERM"].includes(systemCode(error) ?? "") ? "unreadable" : undefined;
}

function problemOf(path: string, error: unknown): string {
  if (error instanceof AppError) return error.message;
  const code = systemCode(error) ?? "";
  if (code.startsWith("Z_")) return `the archive is damaged (${messageOf(error)})`;
  if (error instanceof SyntaxError) return "the manifest is not JSON";
  return fileError(path, "could not read the backup", error).message;
}

/** Reads a stream to its end. */
async function drain(body: AsyncIterable<Buffer>): Promise<void> {
  for await (const _ of body) continue;
}

/** Verifying writes only a copy of the database, so only the archive's own size limits it. */
const VERIFY_LIMITS = { maxBytes: Number.MAX_SAFE_INTEGER, maxFiles: 5_000_000 };

/** Reads a whole backup: every hash, and the database through SQLite. Never throws for a bad backup. */
export async function verifyBackup(options: VerifyOptions): Promise<VerifyReport> {
  const scratch = mkdtempSync(join(options.scratch ?? tmpdir(), "openclaw-verify-"));
  const copy = join(scratch, DATABASE);
  let hasDatabase = false;
  try {
    const { manifest, problems, notes, unopened } = await readBackup(options.backup, {
      limits: VERIFY_LIMITS,
      passphrase: options.passphrase,
      progress: options.progress,
      take: async (file, body) => {
        if (file.name !== `state/${DATABASE}`) return drain(body);
        hasDatabase = true;
        await pipe(body, createWriteStream(copy, { flags: "wx", mode: 0o600 }));
      },
    });
    const damage = hasDatabase && problems.length === 0 ? await integrityProblems(copy) : [];
    const all = [...problems, ...damage.map((text) => `the database: ${text}`)];
    return { ok: all.length === 0, ...(all.length === 0 ? {} : { reason: unopened ?? "damaged" }), problems: all, notes, ...(manifest ? { manifest } : {}) };
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
