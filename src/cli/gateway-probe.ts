import { probeLock, type LockProbe } from "../base/lock-probe.ts";
import { stateLockPath } from "../config/index.ts";
import type { HealthReport } from "../gateway/index.ts";

export type Probe = LockProbe<HealthReport>;

/** Finds the gateway of a state folder by its lock and asks it how it is. */
export const probeGateway = (stateDir: string, timeoutMs: number): Promise<Probe> => probeLock(stateLockPath(stateDir), timeoutMs);
