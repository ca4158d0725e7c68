import { type LockHolder, lockHolder } from "../../../base/instance-lock.ts";
import { AppError, systemCode } from "../../../base/errors.ts";
import { type Io, printJson } from "../../io.ts";
import type { ServiceDefinition } from "./service/definition.ts";
import { installedService, serviceState, control } from "./service/service.ts";
import { setTimeout as wait } from "node:timers/promises";
import { stateLockPath } from "../../../config/index.ts";
import { defineCommand, JSON_OPTION } from "../../command.ts";
import { loadFor } from "../../config-source.ts";

/** The service that runs this process, if one does: it would start it again. */
export async function serviceOf(io: Io, holder: LockHolder): Promise<ServiceDefinition | undefined> {
  const service = installedService(io);
  if (!service) return undefined;
  const state = await serviceState(io, service);
  // Tasks do not report a process.
  return service.kind === "schtasks" || (state.running && state.pid === holder.pid) ? service : undefined;
}

/** Sends a signal to a gateway's process. False when it has just ended. */
export function signalProcess(pid: number, signal: "SIGTERM" | "SIGUSR1", doing: string): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch (error) {
    if (systemCode(error) === "ESRCH") return false;
    throw new AppError("PERMISSION_DENIED", `process ${pid} may not be ${doing} by this user; run this as the user who started it`, { cause: error });
  }
}

/** Longer than a gateway takes to finish what it has accepted. */
const STOP_MS = 15_000;

async function waitForEnd(lock: string, pid: number): Promise<void> {
  const end = performance.now() + STOP_MS;
  while (lockHolder(lock)?.pid === pid) {
    if (performance.now() > end) throw new AppError("TIMEOUT", `process ${pid} did not stop within ${STOP_MS / 1000} s; stop it with: kill -9 ${pid}`);
    await wait(50);
  }
}

/** Has the service manager stop this state folder's service, when it runs or waits to start it again. */
async function stopService(io: Io): Promise<{ readonly label: string; readonly pid?: number } | undefined> {
  const service = installedService(io);
  if (!service) return undefined;
  const state = await serviceState(io, service);
  // What launchd has loaded it starts again, whether it runs now or not.
  if (!state.running && !(service.kind === "launchd" && state.loaded)) return undefined;
  const problem = await control(io, service.stop);
  if (problem !== undefined) throw new AppError("UNAVAILABLE", `${service.label} could not be stopped: ${problem}`);
  return { label: service.label, ...(state.pid === undefined ? {} : { pid: state.pid }) };
}

/** Stops the gateway of this state folder and its service, and waits until it has ended. */
export async function stopGateway(io: Io, stateDir: string): Promise<{ readonly pid?: number; readonly service?: string }> {
  const lock = stateLockPath(stateDir);
  const holder = lockHolder(lock);
  const service = await stopService(io);
  if (holder && service?.pid !== holder.pid) signalProcess(holder.pid, "SIGTERM", "stopped");
  if (holder) await waitForEnd(lock, holder.pid);
  return { ...(holder ? { pid: holder.pid } : {}), ...(service ? { service: service.label } : {}) };
}

export const stop = defineCommand({
  options: { json: JSON_OPTION },
  examples: [{ line: "openclaw gateway stop", does: "Stop and wait until it has exited" }],
  async run({ io, values }) {
    const stateDir = loadFor(io).paths.state;
    const { pid, service } = await stopGateway(io, stateDir);
    if (values.json) {
      return printJson(io, {
        ok: true,
        stopped: pid !== undefined || service !== undefined,
        ...(pid === undefined ? {} : { pid }),
        ...(service ? { service } : {}),
      });
    }
    if (pid !== undefined) io.out(`Stopped process ${pid}${service ? ` (${service})` : ""}\n`);
    else io.out(service ? `Stopped ${service}, which had no process running on ${stateDir}\n` : `No gateway is running on ${stateDir}\n`);
  },
});
