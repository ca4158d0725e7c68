import { open, rm } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "../../../base/errors.ts";
import { shellQuote } from "../../../base/text.ts";
import type { MethodParams, MethodResult } from "../../../protocol/index.ts";
import { loadBackup } from "../../../store/index.ts";
import { createBackupJobs, type BackupJobDeps } from "./jobs.ts";

export interface BackupsDeps extends BackupJobDeps {
  /** Makes the commands in a text run as they are printed. */
  readonly runnable?: ((text: string) => string) | undefined;
}

type Listed = MethodResult<"backup.list">;

/** As much of a file as one answer holds. */
const PART_BYTES = 512 * 1024;

const folderOf = async ({ config }: BackupsDeps): Promise<string> => join(config.paths.state, (await loadBackup()).BACKUPS);

/** The path of a backup that is there. Names are compared with what is in the folder: no path gets out of it. */
async function pathOf(name: string, deps: BackupsDeps): Promise<string> {
  const folder = await folderOf(deps);
  const { listBackups } = await loadBackup();
  if ((await listBackups(folder)).some((one) => one.name === name)) return join(folder, name);
  throw new AppError("NOT_FOUND", "no backup has this name; create one with: openclaw backup create", { details: { name } });
}

/** What a restore could not put in its place, because something is there. */
function notesOf({ report }: NonNullable<Awaited<ReturnType<typeof restoreOf>>["restored"]>, configPath: string): readonly string[] {
  const { configFolder, workspaces } = report;
  return [
    ...(configFolder === undefined ? [] : [`The configuration of the backup is in ${configFolder}; the one in use, ${configPath}, was not changed.`]),
    ...workspaces.map(({ folder, path }) => `The files of the workspace ${path} are in ${folder}.`),
  ];
}

const restoreOf = async ({ config }: BackupsDeps) => (await loadBackup()).lastRestore(config.paths.state);

async function list(deps: BackupsDeps, job: Listed["job"]): Promise<Listed> {
  const folder = await folderOf(deps);
  const { listBackups } = await loadBackup();
  const [backups, { restored, failed }] = await Promise.all([listBackups(folder), restoreOf(deps)]);
  const runnable = deps.runnable ?? ((text: string) => text);
  return {
    folder,
    stateDir: deps.config.paths.state,
    backups: backups.map((one) => ({ ...one })),
    job,
    restored: restored
      ? { atMs: restored.atMs, backup: restored.backup, kept: restored.kept ?? null, notes: [...notesOf(restored, deps.config.paths.file)] }
      : null,
    failed: failed ? { path: failed.path ?? null, reason: failed.reason } : null,
    commands: {
      create: runnable(`openclaw backup create --output ${shellQuote(folder)}`),
      restore: runnable(`openclaw backup restore ${shellQuote(`${folder}/`)}`),
    },
  };
}

async function readPart({ name, offset }: MethodParams<"backup.read">, deps: BackupsDeps): Promise<MethodResult<"backup.read">> {
  const path = await pathOf(name, deps);
  const file = await open(path, "r");
  try {
    const { size, isFile } = await file.stat().then((stat) => ({ size: stat.size, isFile: stat.isFile() }));
    if (!isFile) throw new AppError("INVALID_INPUT", "this backup is a folder; copy it from the machine of the gateway", { details: { path } });
    const buffer = Buffer.alloc(Math.max(0, Math.min(PART_BYTES, size - offset)));
    const { bytesRead } = await file.read(buffer, 0, buffer.length, offset);
    return { data: buffer.toString("base64", 0, bytesRead), total: size };
  } finally {
    await file.close();
  }
}

/** Backups of the state folder, with the job that runs. */
export interface Backups {
  list(): Promise<Listed>;
  create(params: MethodParams<"backup.create">): Promise<MethodResult<"backup.create">>;
  verify(params: MethodParams<"backup.verify">): Promise<MethodResult<"backup.verify">>;
  restore(params: MethodParams<"backup.restore">): Promise<MethodResult<"backup.restore">>;
  read(params: MethodParams<"backup.read">): Promise<MethodResult<"backup.read">>;
  remove(params: MethodParams<"backup.remove">): Promise<MethodResult<"backup.remove">>;
}

/** Keys are looked at here: a passphrase leaves no trace in the store, not even in a digest. */
export function openBackups(deps: BackupsDeps): Backups {
  const jobs = createBackupJobs(deps);
  return {
    list: () => list(deps, jobs.current ?? null),
    create: async ({ passphrase, includeWorkspace = false, idempotencyKey: key }) => ({
      ok: true,
      job: await jobs.create({ passphrase, includeWorkspace, key }),
    }),
    verify: async ({ name, passphrase, idempotencyKey: key }) => ({ ok: true, job: await jobs.verify(await pathOf(name, deps), { passphrase, key }) }),
    restore: async ({ name, passphrase, idempotencyKey: key }) => ({ ok: true, job: await jobs.restore(await pathOf(name, deps), { passphrase, key }) }),
    read: (params) => readPart(params, deps),
    async remove({ name }) {
      const { current } = jobs;
      if (current?.state === "running" && current.name === name)
        throw new AppError("CONFLICT", `this backup is in use (${current.kind}); wait for it to finish`);
      await rm(await pathOf(name, deps), { recursive: true });
      return { ok: true };
    },
  };
}
