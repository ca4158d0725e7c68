import { setTimeout as wait } from "node:timers/promises";
import { lockHolder, type LockHolder } from "../../../base/instance-lock.ts";
import { stateLockPath } from "../../../config/index.ts";
import { AppError } from "../../../base/errors.ts";
import { isRunning } from "../../../base/process-identity.ts";
import { defineCommand, JSON_OPTION } from "../../command.ts";
import { loadFor } from "../../config-source.ts";
import { tryGateway } from "../../gateway-call.ts";
import { localTarget, openForReading } from "../../gateway-target.ts";
import { printJson, type Io } from "../../io.ts";
import { serviceOf, signalProcess, stopGateway } from "./stop.ts";
import type { ServiceDefinition } from "./service/definition.ts";
import { installedService, restartService } from "./service/service.ts";

/** Longer than runs may hold up a restart, and than it takes then. */
const RESTART_MS = 60_000;
const LOOK_MS = 25;
const ANSWER_MS = 5000;

async function restartOf(io: Io, service: ServiceDefinition, json: boolean): Promise<void> {
  // The process of a task may outlive it, and would still hold the state folder.
  if (service.kind === "schtasks") await stopGateway(io, loadFor(io).paths.state);
  const problem = await restartService(io, service);
  if (problem !== undefined) throw new AppError("UNAVAILABLE", `${service.label} could not be restarted: ${problem}`);
  if (json) printJson(io, { ok: true, label: service.label });
  else io.out(`Restarted ${service.label}\n`);
}

/** A process writes its lock again once its gateway is open again. */
export async function waitForReturn(lock: string, before: LockHolder, atMostMs = RESTART_MS): Promise<LockHolder> {
  const end = performance.now() + atMostMs;
  for (;;) {
    const now = lockHolder(lock);
    // While a restored state folder takes the place of the old one, there is no lock for a moment.
    if (!now && isRunning(before) && performance.now() < end) {
      await wait(LOOK_MS);
      continue;
    }
    if (now?.pid !== before.pid) throw new AppError("UNAVAILABLE", `process ${before.pid} exited instead of restarting; see the log: openclaw logs`);
    if (now.createdAt !== before.createdAt) return now;
    if (performance.now() > end) throw new AppError("TIMEOUT", `process ${before.pid} did not restart within ${atMostMs / 1000} s; see the log: openclaw logs`);
    await wait(LOOK_MS);
  }
}

/** Throws where a running gateway cannot restart in its process. */
export function requireRestartInPlace(io: Io): void {
  const { snapshot } = loadFor(io);
  if (snapshot.config.commands?.restart === false)
    throw new AppError(
      "PERMISSION_DENIED",
      `commands.restart is false in ${snapshot.path}, so the gateway cannot be restarted; stop it with \`openclaw gateway stop\` and start it again`,
    );
  if (process.platform === "win32")
    throw new AppError(
      "UNAVAILABLE",
      "a gateway on Windows cannot be restarted from outside its process; stop it with `openclaw gateway stop` and start it again",
    );
}

/** Has a running process restart its gateway, and waits until that answers. */
async function restartInPlace(io: Io, lock: string, holder: LockHolder, json: boolean): Promise<void> {
  requireRestartInPlace(io);
  if (holder.port === undefined) throw new AppError("UNAVAILABLE", `process ${holder.pid} is still starting; try again in a moment`);
  const started = performance.now();
  signalProcess(holder.pid, "SIGUSR1", "restarted");
  await waitForReturn(lock, holder);
  const durationMs = Math.round(performance.now() - started);
  using config = await openForReading(io);
  const target = await localTarget(io, config);
  const answer = await tryGateway(io, target, ANSWER_MS, (client) => client.request("health", {}));
  if (!answer.ok) throw new AppError("UNAVAILABLE", `process ${holder.pid} restarted but does not answer: ${answer.error}`);
  if (json) printJson(io, { ok: true, restarted: true, pid: holder.pid, url: target.url, durationMs });
  else io.out(`Restarted. Process ${holder.pid} answers on ${target.url} again after ${durationMs} ms\n`);
}

export const restart = defineCommand({
  options: { json: JSON_OPTION },
  examples: [{ line: "openclaw gateway restart", does: "Restart and wait until it answers" }],
  async run({ io, values }) {
    const json = values.json ?? false;
    const stateDir = loadFor(io).paths.state;
    const lock = stateLockPath(stateDir);
    const holder = lockHolder(lock);
    if (holder) {
      const service = await serviceOf(io, holder);
      return service ? restartOf(io, service, json) : restartInPlace(io, lock, holder, json);
    }
    const service = installedService(io);
    if (service) return restartOf(io, service, json);
    throw new AppError(
      "NOT_FOUND",
      `no gateway is running on ${stateDir}: start one with \`openclaw gateway\`, or install a service with \`openclaw gateway install\``,
    );
  },
});
