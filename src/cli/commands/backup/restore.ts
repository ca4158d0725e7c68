import { existsSync, readdirSync } from "node:fs";
import { resolve } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { lockHolder, stateLockPath } from "../../../app/index.ts";
import { systemClock } from "../../../base/clock.ts";
import { AppError } from "../../../base/errors.ts";
import { loadBackup } from "../../../store/index.ts";
import { defineCommand, JSON_OPTION } from "../../command.ts";
import { loadFor } from "../../config-source.ts";
import { printJson, type Io } from "../../io.ts";
import { createProgress } from "../../output/progress.ts";

const STOP_MS = 15_000;

/** Ends the gateway of a state folder and waits until it has given the folder back. */
async function stopGateway(stateDir: string): Promise<void> {
  const holder = lockHolder(stateLockPath(stateDir));
  if (!holder) return;
  process.kill(holder.pid, "SIGTERM");
  const end = performance.now() + STOP_MS;
  while (lockHolder(stateLockPath(stateDir))) {
    if (performance.now() > end) throw new AppError("TIMEOUT", `process ${holder.pid} did not end within ${STOP_MS / 1000} s; nothing was restored`);
    await wait(50);
  }
}

/** What the user has to agree to before anything is moved; undefined when nothing is in the way. */
function question(stateDir: string): string | undefined {
  const holder = lockHolder(stateLockPath(stateDir));
  if (holder) return `A gateway (process ${holder.pid}) is running on ${stateDir}. Stop it and replace its state?`;
  return existsSync(stateDir) && readdirSync(stateDir).length > 0 ? `${stateDir} is not empty. Replace it (what is there is kept beside it)?` : undefined;
}

async function agreed(io: Io, stateDir: string, yes: boolean): Promise<boolean> {
  const asked = question(stateDir);
  if (asked === undefined || yes) return true;
  if (!io.interactive) throw new AppError("INVALID_INPUT", `${asked.replace(/\?$/, "")}: give --yes to agree`);
  return io.confirm(asked);
}

export const restore = defineCommand({
  positionals: "<backup>",
  options: { yes: { type: "boolean", short: "y", help: "agree to replace what is there, and to stop a running gateway" }, json: JSON_OPTION },
  examples: [{ line: "openclaw backup restore openclaw-backup-….tar.gz --yes", does: "bring it back without questions" }],
  async run({ io, values, positionals }) {
    const [path] = positionals;
    if (path === undefined) throw new AppError("INVALID_INPUT", "expected the backup's path");
    const stateDir = loadFor(io).paths.state;
    if (!(await agreed(io, stateDir, values.yes ?? false))) {
      io.err("nothing was changed\n");
      return;
    }
    await stopGateway(stateDir);
    const { restoreBackup } = await loadBackup();
    using bar = createProgress(io, "restore");
    const isHeld = (): boolean => lockHolder(stateLockPath(stateDir)) !== undefined;
    const report = await restoreBackup({ backup: resolve(io.cwd, path), stateDir, isHeld, clock: systemClock, progress: bar.update });
    bar[Symbol.dispose]();
    if (values.json) printJson(io, { ok: true, ...report });
    else {
      io.out(`restored ${report.files} files into ${report.stateDir}\n`);
      if (report.kept) io.out(`what was there is kept in ${report.kept}\n`);
      if (report.carried.length > 0) io.out(`taken over from there, as the backup has none: ${report.carried.join(", ")}\n`);
      if (report.configFolder) io.out(`the configuration came from outside of the state folder; its files are in ${report.configFolder}\n`);
      io.out("start the gateway with: openclaw gateway\n");
    }
  },
});
