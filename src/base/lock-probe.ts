import { loadHttp } from "./builtin.ts";
import { messageOf } from "./errors.ts";
import { lockHolder, type LockHolder } from "./instance-lock.ts";

/** What the process that holds a lock answered. */
export interface LockProbe<Health> {
  readonly holder: LockHolder | undefined;
  readonly url: string | undefined;
  readonly reachable: boolean;
  readonly latencyMs?: number;
  readonly health?: Health;
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

/** Finds the gateway that holds a lock and asks it how it is, over HTTP. */
export async function probeLock<Health>(lockPath: string, timeoutMs: number): Promise<LockProbe<Health>> {
  const holder = lockHolder(lockPath);
  if (!holder) return { holder, url: undefined, reachable: false };
  if (holder.port === undefined) return { holder, url: undefined, reachable: false, error: "it is still starting" };
  const url = `http://127.0.0.1:${holder.port}`;
  const started = performance.now();
  try {
    const health = JSON.parse(await getText(`${url}/health`, { authorization: `Bearer ${holder.runSecret ?? ""}` }, timeoutMs)) as Health;
    return { holder, url, reachable: true, latencyMs: Math.round(performance.now() - started), health };
  } catch (error) {
    return { holder, url, reachable: false, error: `process ${holder.pid} does not answer: ${messageOf(error)}` };
  }
}
