import type { LockHolder } from "../../../base/instance-lock.ts";
import { AppError, systemCode } from "../../../base/errors.ts";
import type { Io } from "../../io.ts";
import type { ServiceDefinition } from "./service/definition.ts";
import { installedService, serviceState } from "./service/service.ts";

/** The service that runs this process, if one does: it would start it again. */
export async function serviceOf(io: Io, holder: LockHolder): Promise<ServiceDefinition | undefined> {
  const service = installedService(io);
  if (!service) return undefined;
  const state = await serviceState(io, service);
  return state.running && state.pid === holder.pid ? service : undefined;
}

/** Sends a signal to a gateway's process. False when it has just ended. */
export function signalProcess(pid: number, signal: "SIGTERM" | "SIGUSR1", doing: string): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch (error) {
    if (systemCode(error) === "ESRCH") return false;
    throw new AppError("PERMISSION_DENIED", `process ${pid} may not be ${doing} by this user; do it as the user who started it`, { cause: error });
  }
}
