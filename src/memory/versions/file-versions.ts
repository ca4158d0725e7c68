import { createHash } from "node:crypto";
import { mkdir, open, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../../base/clock.ts";
import { AppError, fileError, messageOf, systemCode } from "../../base/errors.ts";
import type { Ids } from "../../base/ids.ts";
import type { Logger } from "../../base/log/logger.ts";

/** Who left a file as it was then: the page, a run of the agent, or someone who is not known. */
export type VersionBy = "page" | "agent" | "outside";

/** A text that a file had. */
export interface FileVersion {
  readonly id: string;
  /** When it was first seen. */
  readonly at: number;
  readonly by: VersionBy;
  /** The run after which it was seen. */
  readonly runId?: string;
  readonly bytes: number;
  /** Of its text, as `hashOfText` makes it. */
  readonly hash: string;
}

/** A file of an agent, by its name in the workspace. */
export interface FileRef {
  readonly agentId: string;
  readonly name: string;
}

/** Earlier texts of the files that shape agents, in the state folder, where no tool reads or writes. */
export interface FileVersions {
  /** The file has this text now. The same text again is no version. It does not reject: a version that cannot be kept is no reason to refuse a change. */
  note(file: FileRef, text: string, seen: { readonly by: VersionBy; readonly runId?: string | undefined }): Promise<void>;
  /** Newest first. */
  list(file: FileRef): Promise<readonly FileVersion[]>;
  /** `NOT_FOUND` for one that there is not, or not any more. */
  read(file: FileRef, id: string): Promise<string>;
  /** Erases the versions whose text matches. Returns how many. */
  erase(agentId: string, matches: (text: string) => boolean): Promise<number>;
}

export interface FileVersionsDeps {
  readonly clock: Pick<Clock, "now">;
  readonly ids: Pick<Ids, "hex">;
  readonly log: Pick<Logger, "warn">;
  readonly stateDir: string;
}

/** Versions of one file that are kept, their bytes altogether, and how long. The newest stays in any case. */
const KEPT = 50;
const KEPT_BYTES = 4 * 1024 * 1024;
const KEPT_MS = 90 * 24 * 3_600_000;
/** A larger text was not written for an agent. */
const MAX_BYTES = 2 * 1024 * 1024;
/** A file that has not got its name for so long never will. */
const STALE_MS = 60_000;
const AGENT = /^[a-z0-9][a-z0-9_-]{0,63}$/;
const FILE = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;
const RUN = /^[A-Za-z0-9_-]{1,64}$/;
const VERSION = /^(\d{13,15})-([0-9a-f]{64})-(page|agent|outside)(?:-([A-Za-z0-9_-]{1,64}))?$/;
const ENDING = ".md";

export const hashOfText = (text: string): string => createHash("sha256").update(text).digest("hex");

export function createFileVersions({ clock, ids, log, stateDir }: FileVersionsDeps): FileVersions {
  /** By folder: one after the other. */
  const working = new Map<string, Promise<unknown>>();

  /** Undefined for names that would be none of a folder: they have no versions. */
  function folderOf({ agentId, name }: FileRef): string | undefined {
    return AGENT.test(agentId) && FILE.test(name) ? join(stateDir, "agents", agentId, "files", name) : undefined;
  }

  async function inTurn<T>(folder: string, work: () => Promise<T>): Promise<T> {
    const before = working.get(folder);
    const mine = (async () => {
      await before?.catch(() => undefined);
      return work();
    })();
    working.set(folder, mine);
    try {
      return await mine;
    } finally {
      if (working.get(folder) === mine) working.delete(folder);
    }
  }

  async function add(folder: string, text: string, { by, runId }: { readonly by: VersionBy; readonly runId?: string | undefined }): Promise<void> {
    const [newest] = await versionsIn(folder);
    const hash = hashOfText(text);
    if (newest?.hash === hash) return;
    const at = Math.max(clock.now(), (newest?.at ?? 0) + 1);
    const run = runId !== undefined && RUN.test(runId) ? `-${runId}` : "";
    const target = join(folder, `${String(at).padStart(13, "0")}-${hash}-${by}${run}${ENDING}`);
    const temporary = `${target}.${ids.hex(6)}.tmp`;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    try {
      await using file = await open(temporary, "wx", 0o600);
      await file.writeFile(text);
      await file.sync();
      await rename(temporary, target);
    } catch (error) {
      await rm(temporary, { force: true });
      throw fileError(target, "could not write", error);
    }
    await sweep(folder, clock.now());
  }

  return {
    async note(file, text, seen) {
      const folder = folderOf(file);
      if (folder === undefined || Buffer.byteLength(text) > MAX_BYTES) return;
      await inTurn(folder, () => add(folder, text, seen)).catch((error: unknown) =>
        log.warn(`a version of ${file.name} of the agent ${file.agentId} could not be saved: ${messageOf(error)}`),
      );
    },
    async list(file) {
      const folder = folderOf(file);
      return folder === undefined ? [] : inTurn(folder, () => sweep(folder, clock.now()));
    },
    async read(file, id) {
      const folder = folderOf(file);
      const gone = (): AppError =>
        new AppError("NOT_FOUND", `there is no version ${JSON.stringify(id.slice(0, 160))} of ${file.name}; see agents.files.versions`);
      if (folder === undefined || !VERSION.test(id)) throw gone();
      const path = join(folder, `${id}${ENDING}`);
      return readFile(path, "utf8").catch((error: unknown) => {
        throw systemCode(error) === "ENOENT" ? gone() : fileError(path, "could not read", error);
      });
    },
    async erase(agentId, matches) {
      if (!AGENT.test(agentId)) return 0;
      const files = join(stateDir, "agents", agentId, "files");
      let erased = 0;
      for (const name of (await namesIn(files)).filter((one) => FILE.test(one))) {
        const folder = join(files, name);
        await inTurn(folder, async () => {
          for (const version of await versionsIn(folder)) {
            const text = await readFile(join(folder, `${version.id}${ENDING}`), "utf8").catch(() => "");
            if (!matches(text)) continue;
            await drop(folder, [version]);
            erased += 1;
          }
        });
      }
      return erased;
    },
  };
}

async function drop(folder: string, versions: readonly FileVersion[]): Promise<void> {
  for (const { id } of versions) await rm(join(folder, `${id}${ENDING}`), { force: true });
}

/** The oldest go, and what a process left that died while it wrote. Gives those that stay. */
async function sweep(folder: string, now: number): Promise<readonly FileVersion[]> {
  const versions = await versionsIn(folder);
  let bytes = 0;
  const isOver = (version: FileVersion, at: number): boolean => (bytes += version.bytes) > KEPT_BYTES || at >= KEPT || now - version.at > KEPT_MS;
  const over = versions.filter((version, at) => isOver(version, at) && at > 0);
  await drop(folder, over);
  for (const name of (await namesIn(folder)).filter((one) => one.endsWith(".tmp"))) {
    const facts = await stat(join(folder, name)).catch(() => undefined);
    if (facts && now - facts.mtimeMs > STALE_MS) await rm(join(folder, name), { force: true });
  }
  return over.length === 0 ? versions : versions.filter((version) => !over.includes(version));
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (systemCode(error) === "ENOENT" || systemCode(error) === "ENOTDIR") return [];
    throw fileError(folder, "could not read the folder", error);
  }
}

/** Newest first. */
async function versionsIn(folder: string): Promise<readonly FileVersion[]> {
  const versions: FileVersion[] = [];
  for (const name of await namesIn(folder)) {
    const id = name.endsWith(ENDING) ? name.slice(0, -ENDING.length) : "";
    const [, at, hash = "", by, runId] = VERSION.exec(id) ?? [];
    // Gone since it was listed: it was the oldest.
    const facts = at === undefined ? undefined : await stat(join(folder, name)).catch(() => undefined);
    if (facts?.isFile()) versions.push({ id, at: Number(at), by: by as VersionBy, bytes: facts.size, hash, ...(runId === undefined ? {} : { runId }) });
  }
  return versions.sort((a, b) => b.at - a.at);
}

/** A file as a turn read it. The same object as long as it is the same file. */
export interface SeenFile {
  readonly name: string;
  readonly content?: string;
  readonly missing: boolean;
  /** It was read at its ends only. */
  readonly rawChars?: number;
}

/** Notes what turns read of the files of agents: what is read anyway costs nothing, and what a run changed is seen after it. */
export interface SeenFiles {
  seen(agentId: string, files: readonly SeenFile[], from: { readonly by: VersionBy; readonly runId?: string }): void;
}

export function createSeenFiles(versions: Pick<FileVersions, "note">): SeenFiles {
  const last = new Map<string, SeenFile>();
  return {
    seen(agentId, files, from) {
      for (const file of files) {
        const key = `${agentId}/${file.name}`;
        if (last.get(key) === file) continue;
        last.set(key, file);
        if (file.content !== undefined && file.rawChars === undefined) void versions.note({ agentId, name: file.name }, file.content, from);
      }
    },
  };
}
