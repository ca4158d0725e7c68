import type { Clock } from "../../base/clock.ts";
import { isRecord } from "../../base/records.ts";
import type { Env } from "../../config/index.ts";

/** Login of the user at a tailnet address; undefined when Tailscale does not know it. */
export type Whois = (ip: string) => Promise<string | undefined>;

const TIMEOUT_MS = 5000;
const CACHE_MS = 60_000;
const CACHE_UNKNOWN_MS = 5000;
const MAX_CACHED = 200;

function loginIn(output: string): string | undefined {
  const parsed: unknown = JSON.parse(output);
  const profile = isRecord(parsed) ? parsed["UserProfile"] : undefined;
  const login = isRecord(profile) ? profile["LoginName"] : undefined;
  return typeof login === "string" && login !== "" ? login : undefined;
}

async function askTailscale(ip: string, env: Env): Promise<string | undefined> {
  const { run } = await import("../../base/spawn.ts");
  try {
    const { code, stdout } = await run("tailscale", { args: ["whois", "--json", ip], env, timeoutMs: TIMEOUT_MS, maxOutputBytes: 256 * 1024 });
    return code === 0 ? loginIn(stdout) : undefined;
  } catch {
    return undefined;
  }
}

/** Asks `tailscale whois`, one program per address at a time, and caches the answers for a moment. */
export function createWhois(env: Env, clock: Pick<Clock, "monotonic">, ask: (ip: string, env: Env) => Promise<string | undefined> = askTailscale): Whois {
  const answers = new Map<string, { readonly answer: Promise<string | undefined>; until: number }>();
  return (ip) => {
    const known = answers.get(ip);
    if (known && known.until > clock.monotonic()) return known.answer;
    // A question that failed is asked again as soon as one without an answer.
    const entry = { answer: ask(ip, env).catch(() => undefined), until: Number.POSITIVE_INFINITY };
    answers.delete(ip);
    answers.set(ip, entry);
    const [oldest = ip] = answers.keys();
    if (answers.size > MAX_CACHED) answers.delete(oldest);
    void entry.answer.then((login) => (entry.until = clock.monotonic() + (login === undefined ? CACHE_UNKNOWN_MS : CACHE_MS)));
    return entry.answer;
  };
}
