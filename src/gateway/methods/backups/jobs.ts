import { rm } from "node:fs/promises";
import { basename, join } from "node:path";
import type { Clock } from "../../../base/clock.ts";
import { AppError, messageOf } from "../../../base/errors.ts";
import type { Ids } from "../../../base/ids.ts";
import type { Logger } from "../../../base/log/logger.ts";
import type { Config } from "../../../config/index.ts";
import type { MethodResult } from "../../../protocol/index.ts";
import { loadBackup, type BackupResults, type BackupWork } from "../../../store/index.ts";
import { requireRestarts, type RestartReport, type RestartRequest } from "../deps.ts";

export type BackupJob = NonNullable<MethodResult<"backup.list">["job"]>;

export interface BackupJobDeps {
  readonly config: Pick<Config, "paths" | "snapshot" | "current">;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Logger;
  readonly version: string;
  readonly pid: number;
  /** The workspaces of all agents. */
  readonly workspaces: () => Promise<readonly string[]>;
  readonly requestRestart: (request: RestartRequest, options?: { readonly urgent?: boolean }) => RestartReport;
  /** Fires when the gateway stops. */
  readonly stopping: AbortSignal;
}

/** What a client asked for. A key names a request: the same key gets the job that it began. */
export interface WantedJob {
  readonly key: string | undefined;
  readonly passphrase: string | undefined;
}

/** One job at a time, in a thread of its own. The last one stays to be looked at. */
export interface BackupJobs {
  readonly current: BackupJob | undefined;
  create(wanted: WantedJob & { readonly includeWorkspace: boolean }): Promise<BackupJob>;
  /** `path`: of a backup that is there. */
  verify(path: string, wanted: WantedJob): Promise<BackupJob>;
  restore(path: string, wanted: WantedJob): Promise<BackupJob>;
}

const RESTART_DELAY_MS = 500;

/** Has this process restart on what was unpacked. The same steps as `openclaw backup restore`: only who asks for the restart differs. */
async function handOverTo({ pid, clock, requestRestart }: BackupJobDeps, staged: BackupResults["restore"], path: string): Promise<Partial<BackupJob>> {
  const { handOver, cancelHandOver } = await loadBackup();
  handOver(staged, { pid, at: clock.now(), backup: path });
  const { ok, reason } = requestRestart({ reason: "backup.restore", delayMs: RESTART_DELAY_MS }, { urgent: true });
  if (ok) return {};
  cancelHandOver(staged);
  await rm(staged.staging, { recursive: true, force: true });
  throw new AppError("UNAVAILABLE", `the gateway cannot restart: ${reason}. The state folder was not touched`);
}

/** What there is to back up. */
async function createOptions({ config, workspaces, version }: BackupJobDeps, passphrase: string | undefined, includeWorkspace: boolean) {
  const { BACKUPS } = await loadBackup();
  const { exists, path, files } = config.snapshot();
  const stateDir = config.paths.state;
  return {
    stateDir,
    into: join(stateDir, BACKUPS),
    form: "tar.gz" as const,
    configFiles: exists ? [path, ...files.filter((file) => file !== path)] : [],
    passphrase,
    includeWorkspace,
    workspaces: await workspaces(),
    madeBy: version,
  };
}

export function createBackupJobs(deps: BackupJobDeps): BackupJobs {
  const { clock, config, log } = deps;
  let job: BackupJob | undefined;
  let key: string | undefined;

  const change = (part: Partial<BackupJob>): void => {
    if (job) job = { ...job, ...part };
  };

  /** Begins a job and answers at once; what becomes of it is in `current`. */
  function begin<W extends BackupWork>(
    work: W,
    { key: wanted, name }: { readonly key: string | undefined; readonly name: string | null },
    after: (result: BackupResults[W["kind"]]) => Partial<BackupJob> | Promise<Partial<BackupJob>>,
  ): BackupJob {
    if (job && wanted !== undefined && wanted === key) return job;
    if (job?.state === "running") throw new AppError("CONFLICT", `a backup job (${job.kind}) is running; wait for it to finish`);
    key = wanted;
    const begun: BackupJob = {
      id: deps.ids.uuid(),
      kind: work.kind,
      name,
      state: "running",
      startedAtMs: clock.now(),
      endedAtMs: null,
      done: 0,
      total: 0,
      label: "",
      error: null,
    };
    job = begun;
    void carryOut(work, after);
    return begun;
  }

  async function carryOut<W extends BackupWork>(
    work: W,
    after: (result: BackupResults[W["kind"]]) => Partial<BackupJob> | Promise<Partial<BackupJob>>,
  ): Promise<void> {
    try {
      const { inBackupThread } = await loadBackup();
      const result = await inBackupThread(work, (done, total, label) => change({ done, total, label }), deps.stopping);
      const total = job?.total ?? 0;
      change({ state: "done", endedAtMs: clock.now(), done: total, label: "", ...(await after(result)) });
    } catch (error) {
      log.warn(`backup ${work.kind}: ${messageOf(error)}`);
      change({ state: "failed", endedAtMs: clock.now(), error: messageOf(error) });
    }
  }

  return {
    get current() {
      return job;
    },
    async create({ key: wanted, passphrase, includeWorkspace }) {
      const options = await createOptions(deps, passphrase, includeWorkspace);
      return begin({ kind: "create", at: clock.now(), options }, { key: wanted, name: null }, ({ path: made, files: count, bytes, left }) => ({
        name: basename(made),
        created: { files: count, bytes, left },
      }));
    },
    async verify(path, { key: wanted, passphrase }) {
      return begin({ kind: "verify", options: { backup: path, passphrase } }, { key: wanted, name: basename(path) }, (verified) => ({ verified }));
    },
    async restore(path, { key: wanted, passphrase }) {
      // Asked first: unpacking takes minutes.
      requireRestarts(config.current);
      const options = { backup: path, passphrase, stateDir: config.paths.state };
      return begin({ kind: "restore", at: clock.now(), options }, { key: wanted, name: basename(path) }, (staged) => handOverTo(deps, staged, path));
    },
  };
}
