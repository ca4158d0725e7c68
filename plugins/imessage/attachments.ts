/** Files that come and go: read where they may be, copied from and to another Mac with scp. */
import { mkdtemp, open, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join, posix } from "node:path";
import { asChannelError, ChannelError, type FilePart, messageOf, notSent, safeFileName, unfit, type Waiting } from "openclaw/plugin-sdk/channel-kit";
import { type IMessageAccount, isHost } from "./account.ts";

/** Runs a program to its end. */
export type RunCommand = (argv: string[], options: { readonly timeoutMs: number }) => Promise<{ readonly code: number | null; readonly stderr: string }>;

const COPY_MS = 120_000;
const LATE_LOOKS = 30;
/** A script that is longer than this is none. */
const MAX_SCRIPT_BYTES = 64 * 1024;

/** The host that a script signs in to, or nothing. */
export function hostInScript(script: string): string | undefined {
  const lines = script.split("\n").filter((line) => !line.trimStart().startsWith("#"));
  for (const line of lines) {
    const [, words] = /(?:^|[\s;&|/])ssh\s+(.*)$/.exec(line) ?? [];
    if (words === undefined) continue;
    const list = words.split(/\s+/).map((word) => word.replaceAll(/^["']|["']$/g, ""));
    // Options that take a value: the value is no host.
    const host = list.find((word, at) => !word.startsWith("-") && !/^-[BbcDEeFIiJLlmOoPpQRSWw]$/.test(list[at - 1] ?? ""));
    if (host !== undefined && isHost(host)) return host;
  }
  return undefined;
}

/** Where `imsg` runs, if that is not here: as configured, else as the script in `cliPath` says. */
export async function remoteHostOf({ remoteHost, cliPath }: IMessageAccount): Promise<string | undefined> {
  if (remoteHost !== undefined) return remoteHost;
  if (!cliPath.includes("/")) return undefined;
  try {
    await using file = await open(cliPath);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_SCRIPT_BYTES), 0, MAX_SCRIPT_BYTES, 0);
    const text = buffer.subarray(0, bytesRead).toString("utf8");
    return text.startsWith("#!") ? hostInScript(text) : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a path is below one of the folders. `*` stands for one part. */
export function isBelow(path: string, roots: readonly string[]): boolean {
  if (!path.startsWith("/") || posix.normalize(path) !== path) return false;
  const parts = path.split("/").filter(Boolean);
  return roots.some((root) => {
    const wanted = root.split("/").filter(Boolean);
    return parts.length > wanted.length && wanted.every((part, at) => part === "*" || part === parts[at]);
  });
}

const refused = (path: string, key: string): ChannelError =>
  unfit("download", `the file ${basename(path)} is not in a folder of channels.imessage.${key}`, "FORBIDDEN");

const tooBig = (path: string, maxBytes: number): ChannelError => unfit("download", `the file ${basename(path)} is larger than ${maxBytes} bytes`, "TOO_LARGE");

/** Reads no more than that many bytes. */
async function readBounded(path: string, maxBytes: number): Promise<Buffer> {
  await using file = await open(path);
  const { size } = await file.stat();
  if (size > maxBytes) throw tooBig(path, maxBytes);
  return file.readFile();
}

async function withFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "openclaw-imessage-"));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Older versions of scp hand paths to a shell on the other side, and newer ones expand patterns. */
const isPlain = (path: string): boolean => !/[\p{Cc}"'`$\\;&|<>*?[\]{}!#~^%]/u.test(path);

async function copy(run: RunCommand, options: readonly string[], from: string, to: string): Promise<void> {
  const argv = ["scp", "-q", "-B", "-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=yes", ...options, "--", from, to];
  try {
    const { code, stderr } = await run(argv, { timeoutMs: COPY_MS });
    if (code !== 0) throw notSent("scp", `scp failed: ${stderr.trim().split("\n").at(-1) || `code ${code}`}`);
  } catch (error) {
    throw error instanceof ChannelError ? error : notSent("scp", `scp cannot be run: ${messageOf(error)}`);
  }
}

const absent = (path: string): ChannelError => unfit("download", `the file ${basename(path)} is not on the Mac`, "NOT_FOUND");

async function fetchNow(account: IMessageAccount, path: string, maxBytes: number, run: RunCommand): Promise<Buffer> {
  const host = await remoteHostOf(account);
  if (host === undefined) {
    if (!isBelow(path, account.roots)) throw refused(path, "attachmentRoots");
    // A link must not lead elsewhere.
    const real = await realpath(path).catch(() => Promise.reject(absent(path)));
    const roots = await Promise.all(account.roots.map(async (root) => (root.includes("*") ? root : realpath(root).catch(() => root))));
    if (!isBelow(real, roots)) throw refused(path, "attachmentRoots");
    return readBounded(real, maxBytes);
  }
  if (!isBelow(path, account.remoteRoots)) throw refused(path, "remoteAttachmentRoots");
  if (!isPlain(path)) throw unfit("download", `the name of ${basename(path)} has characters that scp could misread`, "FORBIDDEN");
  return withFolder(async (folder) => {
    const target = join(folder, "file");
    await copy(run, [], `${host}:${path}`, target).catch((error: unknown) => Promise.reject(/no such file/i.test(messageOf(error)) ? absent(path) : error));
    return readBounded(target, maxBytes);
  });
}

export interface FetchOptions {
  readonly maxBytes: number;
  readonly run: RunCommand;
  readonly waiting: Waiting;
  /** Between looks for a file that was not there. */
  readonly lateMs: number;
  readonly signal: AbortSignal;
}

/** A file that someone sent. A message is there before its files are: one that was `missing` then is waited for. */
export async function fetchAttachment(
  account: IMessageAccount,
  { path, isLate }: { readonly path: string; readonly isLate: boolean },
  { maxBytes, run, waiting, lateMs, signal }: FetchOptions,
): Promise<Buffer> {
  for (let look = 1; ; look += 1) {
    try {
      return await fetchNow(account, path, maxBytes, run);
    } catch (error) {
      if (!isLate || asChannelError(error)?.code !== "NOT_FOUND" || look >= LATE_LOOKS || signal.aborted) throw error;
      await waiting.sleep(lateMs, signal);
    }
  }
}

/** Puts a file where `imsg` can read it while `send` runs. */
export async function withOutgoing<T>(account: IMessageAccount, file: FilePart, run: RunCommand, send: (path: string) => Promise<T>): Promise<T> {
  const host = await remoteHostOf(account);
  return withFolder(async (folder) => {
    const name = safeFileName(file.fileName).replaceAll(/[^\p{L}\p{N}._ -]/gu, "_");
    const path = join(folder, name);
    await writeFile(path, file.data, { mode: 0o600 });
    if (host === undefined) return send(path);
    // The whole folder, so that the file keeps its name there; macOS empties /tmp by itself.
    await copy(run, ["-r"], folder, `${host}:/tmp/`);
    return send(posix.join("/tmp", basename(folder), name));
  });
}
