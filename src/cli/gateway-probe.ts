import { lockHolder, type LockHolder } from "../base/instance-lock.ts";
import { stateLockPath } from "../config/index.ts";
import { loadHttp } from "../base/builtin.ts";
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

/** The body of an answer. The platform's `fetch` would cost 20 ms to load. */
function getText(url: string, headers: Record<string, string>, timeoutMs: number): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const sent = loadHttp().get(url, { headers, signal: AbortSignal.timeout(Math.ceil(timeoutMs)) }, (response) => {
    let body = "";
    response.setEncoding("utf8");
    response.on("data", (text: string) => (body += text));
    response.on("end", () => resolve(body));
    response.on("error", reject);
  });
  sent.on("error", reject);
  return promise;
}

/** Finds the gateway of a state folder by its lock and asks it how it is. */
export async function probeGateway(stateDir: string, timeoutMs: number): Promise<Probe> {
  const holder = lockHolder(stateLockPath(stateDir));
  if (!holder) return { holder, url: undefined, reachable: false };
  if (holder.port === undefined) return { holder, url: undefined, reachable: false, error: "it is still starting" };
  const url = `http://127.0.0.1:${holder.port}`;
  const started = performance.now();
  try {
    const health = JSON.parse(await getText(`${url}/health`, { authorization: `Bearer ${holder.runSecret ?? ""}` }, timeoutMs)) as HealthReport;
    return { holder, url, reachable: true, latencyMs: Math.round(performance.now() - started), health };
  } catch (error) {
    return { holder, url, reachable: false, error: `process ${holder.pid} does not answer: ${messageOf(error)}` };
  }
}
