import { lockHolder, stateLockPath, type LockHolder } from "../app/index.ts";
import { messageOf } from "../base/errors.ts";
import type { HealthReport } from "../gateway/index.ts";

export interface Probe {
  readonly holder: LockHolder | undefined;
  readonly url: string | undefined;
  readonly reachable: boolean;
  readonly latencyMs?: number;
  readonly health?: HealthReport;
  readonly error?: string;
}

/** Finds the gateway of a state folder by its lock and asks it how it is. */
export async function probeGateway(stateDir: string, timeoutMs: number): Promise<Probe> {
  const holder = lockHolder(stateLockPath(stateDir));
  if (!holder) return { holder, url: undefined, reachable: false };
  if (holder.port === undefined) return { holder, url: undefined, reachable: false, error: "it is still starting" };
  const url = `http://127.0.0.1:${holder.port}`;
  const started = performance.now();
  try {
    const response = await fetch(`${url}/health`, { headers: { authorization: `Bearer ${holder.runSecret ?? ""}` }, signal: AbortSignal.timeout(timeoutMs) });
    const health = (await response.json()) as HealthReport;
    return { holder, url, reachable: true, latencyMs: Math.round(performance.now() - started), health };
  } catch (error) {
    const cause = (error as { cause?: unknown }).cause;
    return { holder, url, reachable: false, error: `process ${holder.pid} does not answer: ${messageOf(cause ?? error)}` };
  }
}
