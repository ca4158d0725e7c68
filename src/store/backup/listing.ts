import { existsSync, readFileSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { systemCode } from "../../base/errors.ts";
import { holdsState, REASON } from "./handover.ts";
import { READY, restoredIn } from "./restore.ts";
import type { RestoreReport } from "./types.ts";

/** A backup in a folder, by its name and size; what is in it is not read. */
export interface ListedBackup {
  readonly name: string;
  readonly bytes: number;
  readonly createdAtMs: number;
  readonly encrypted: boolean;
  readonly form: "tar.gz" | "folder";
}

/** The time in a name is ISO with dashes for colons. */
const NAME = /^openclaw-backup-(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z)(\.tar\.gz(?:\.age)?)?$/;

const timeOf = (stamp: string): number => Date.parse(stamp.replace(/T(\d\d)-(\d\d)-/, "T$1:$2:"));

async function bytesOf(path: string, isFolder: boolean): Promise<number> {
  if (!isFolder) return (await stat(path)).size;
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  let sum = 0;
  for (const entry of entries) if (entry.isFile()) sum += (await stat(join(entry.parentPath, entry.name))).size;
  return sum;
}

/** The backups in a folder, newest first. A folder that does not exist has none. */
export async function listBackups(folder: string): Promise<readonly ListedBackup[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    if (systemCode(error) === "ENOENT") return [];
    throw error;
  });
  const found: ListedBackup[] = [];
  for (const entry of entries) {
    const match = NAME.exec(entry.name);
    const isFolder = entry.isDirectory();
    if (!match || (!isFolder && !entry.isFile()) || isFolder !== (match[2] === undefined)) continue;
    const bytes = await bytesOf(join(folder, entry.name), isFolder).catch(() => undefined);
    if (bytes === undefined) continue;
    found.push({ name: entry.name, bytes, createdAtMs: timeOf(match[1] ?? ""), encrypted: match[2] === ".tar.gz.age", form: isFolder ? "folder" : "tar.gz" });
  }
  return found.sort((a, b) => b.createdAtMs - a.createdAtMs);
}

export interface LastRestore {
  /** The backup that this state came from. */
  readonly restored?: { readonly atMs: number; readonly backup: string; readonly kept?: string; readonly report: Omit<RestoreReport, "files" | "kept"> };
  /** A restore that did not work, when that came later. `path`: the restored state, where it was kept. */
  readonly failed?: { readonly path?: string; readonly reason: string };
}

/** How the last restore of a state folder went. */
export async function lastRestore(stateDir: string): Promise<LastRestore> {
  const beside = await readdir(dirname(stateDir)).catch(() => []);
  const newest = (kind: string): string | undefined =>
    beside
      .filter((name) => name.startsWith(`${basename(stateDir)}.${kind}-`))
      .sort()
      .at(-1);
  const [keptName, failedName] = [newest("before-restore"), newest("failed-restore")];
  const inParent = (name: string): string => join(dirname(stateDir), name);
  const reasonFile = failedName === undefined ? undefined : join(inParent(failedName), REASON);
  const isLater = failedName !== undefined && (keptName === undefined || failedName.slice(-24) > keptName.slice(-24));
  const failed =
    failedName !== undefined && isLater && reasonFile !== undefined && existsSync(reasonFile)
      ? { ...(holdsState(inParent(failedName)) ? { path: inParent(failedName) } : {}), reason: readFileSync(reasonFile, "utf8").trim() }
      : undefined;
  const record = join(stateDir, READY);
  if (!existsSync(record)) return failed ? { failed } : {};
  const { backup, restoredAt }: { readonly backup?: string; readonly restoredAt?: string } = JSON.parse(readFileSync(record, "utf8"));
  return {
    restored: {
      atMs: Date.parse(restoredAt ?? "") || 0,
      backup: backup ?? "",
      ...(keptName === undefined ? {} : { kept: inParent(keptName) }),
      report: restoredIn(stateDir),
    },
    ...(failed ? { failed } : {}),
  };
}
