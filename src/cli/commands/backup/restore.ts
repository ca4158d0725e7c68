import { cpSync, existsSync, readdirSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { lockHolder, type LockHolder } from "../../../base/instance-lock.ts";
import { stateLockPath } from "../../../config/index.ts";
import { systemClock } from "../../../base/clock.ts";
import { AppError, messageOf } from "../../../base/errors.ts";
import { shellQuote } from "../../../base/text.ts";
import { loadBackup, type PreparedRestore, type RestoreReport } from "../../../store/index.ts";
import { defineCommand, JSON_OPTION } from "../../command.ts";
import { loadFor } from "../../config-source.ts";
import { printJson, type Io } from "../../io.ts";
import { createProgress } from "../../output/progress.ts";
import { PASSPHRASE_OPTION, passphraseFrom } from "./create.ts";
import { signalProcess } from "../gateway/stop.ts";
import { requireRestartInPlace, waitForReturn } from "../gateway/restart.ts";

/** Runs may hold up a restart for 30 s, and a large workspace takes its time to be copied. */
const IN_PLACE_MS = 600_000;

/** What the user has to agree to before anything is moved; undefined when nothing is in the way. */
function question(stateDir: string): string | undefined {
  const holder = lockHolder(stateLockPath(stateDir));
  if (holder) return `A gateway (process ${holder.pid}) is running on ${stateDir}. Restart it on the restored state?`;
  return existsSync(stateDir) && readdirSync(stateDir).length > 0
    ? `${stateDir} is not empty. Replace it (the current folder is kept under another name)?`
    : undefined;
}

async function agreed(io: Io, stateDir: string, yes: boolean): Promise<boolean> {
  const asked = question(stateDir);
  if (asked === undefined || yes) return true;
  if (!io.interactive) throw new AppError("INVALID_INPUT", `${asked.replace(/\?$/, "")}: use --yes to confirm`);
  return io.confirm(asked);
}

/** Has the running gateway restart on the restored state, and waits until it is back: on it, or on the old one when that did not work. */
async function restoreInPlace(prepared: PreparedRestore, holder: LockHolder, backup: string): Promise<RestoreReport> {
  if (holder.port === undefined) throw new AppError("UNAVAILABLE", `process ${holder.pid} is still starting; try again in a moment. No changes made`);
  const { handOver, outcomeOf, cancelHandOver } = await loadBackup();
  handOver(prepared, { pid: holder.pid, at: systemClock.now(), backup });
  try {
    signalProcess(holder.pid, "SIGUSR1", "restarted");
    await waitForReturn(stateLockPath(prepared.stateDir), holder, IN_PLACE_MS);
  } catch (error) {
    if (cancelHandOver(prepared)) throw new AppError("UNAVAILABLE", `${messageOf(error)}. The state folder was not changed`, { cause: error });
    throw error;
  }
  // A gateway that does not know how leaves it where it is.
  cancelHandOver(prepared);
  const outcome = outcomeOf(prepared);
  if (outcome.ok) return outcome.report;
  const where = outcome.failed === undefined ? "" : ` The restored files are in ${outcome.failed}.`;
  throw new AppError(
    "UNAVAILABLE",
    `the backup was not restored; the gateway (process ${holder.pid}) keeps running on its previous state: ${outcome.reason}.${where}`,
  );
}

const isFree = (folder: string): boolean => !existsSync(folder) || readdirSync(folder).length === 0;

/**
 * Puts files from outside of the state folder where they were, unless something is there: the configuration where this program looks for it, workspaces at
 * their own paths. What stays in the state folder is named, with the command that copies it.
 */
function putBack({ configFolder, configFile, workspaces }: RestoreReport, configPath: string): readonly string[] {
  const lines: string[] = [];
  if (configFolder !== undefined && configFile !== undefined) {
    const restored = join(configFolder, basename(configFile));
    if (!existsSync(configPath) && existsSync(restored)) {
      cpSync(configFolder, dirname(configPath), { recursive: true, force: false });
      if (basename(configPath) !== basename(configFile)) renameSync(join(dirname(configPath), basename(configFile)), configPath);
      lines.push(`Restored the configuration to ${configPath}`);
    } else lines.push(`The configuration of the backup is in ${restored}. To use it: cp ${quoted(restored)} ${quoted(configPath)}`);
  }
  for (const { folder, path } of workspaces) {
    if (isFree(path)) {
      cpSync(folder, path, { recursive: true });
      rmSync(folder, { recursive: true });
      lines.push(`Restored the workspace ${path}`);
    } else lines.push(`The workspace ${path} is in use and was not changed. Its files from the backup are in ${folder}`);
  }
  return lines;
}

const quoted = (path: string): string => (/^[\w./-]+$/.test(path) ? path : shellQuote(path));

export const restore = defineCommand({
  positionals: "<backup>",
  options: {
    yes: { type: "boolean", short: "y", help: "Replace existing data and restart a running gateway without asking" },
    "passphrase-file": PASSPHRASE_OPTION,
    json: JSON_OPTION,
  },
  examples: [{ line: "openclaw backup restore openclaw-backup-….tar.gz --yes", does: "Restore a backup without asking" }],
  async run({ io, values, positionals }) {
    const [path] = positionals;
    if (path === undefined) throw new AppError("INVALID_INPUT", "expected the path of a backup");
    const stateDir = loadFor(io).paths.state;
    const passphrase = passphraseFrom(io, values["passphrase-file"]);
    if (!(await agreed(io, stateDir, values.yes ?? false))) {
      io.err("No changes made\n");
      return;
    }
    // Asked first: unpacking takes minutes.
    if (lockHolder(stateLockPath(stateDir))) requireRestartInPlace(io);
    const backup = resolve(io.cwd, path);
    const { prepareRestore } = await loadBackup();
    using bar = createProgress(io, "restore");
    // Unpacked and checked while the gateway goes on; it is disturbed only when there is something to restore.
    using prepared = await prepareRestore({ backup, passphrase, stateDir, clock: systemClock, progress: bar.update });
    bar[Symbol.dispose]();
    const holder = lockHolder(stateLockPath(stateDir));
    const report = holder ? await restoreInPlace(prepared, holder, backup) : prepared.finish();
    const placed = putBack(report, loadFor(io).snapshot.path);
    if (values.json) printJson(io, { ok: true, ...report, notes: placed, ...(holder ? { restarted: true, pid: holder.pid } : {}) });
    else {
      io.out(`Restored ${report.files} files to ${report.stateDir}\n`);
      if (report.kept) io.out(`The previous files are in ${report.kept}\n`);
      if (report.carried.length > 0) io.out(`Kept from there, because the backup has none: ${report.carried.join(", ")}\n`);
      for (const line of placed) io.out(`${line}\n`);
      io.out(io.runnable(holder ? `The gateway (process ${holder.pid}) now runs on the restored state\n` : "Start the gateway with: openclaw gateway\n"));
    }
  },
});
