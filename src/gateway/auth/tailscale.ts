import type { Clock } from "../../base/clock.ts";
import type { Env } from "../../config/index.ts";

/** Login of the user at a tailnet address; undefined when Tailscale does not know it. */
export type Whois = (ip: string) => Promise<string | undefined>;

const TIMEOUT_MS = 5000;
const KEEP_MS = 60_000;
const KEEP_UNKNOWN_MS = 5000;
const MAX_KEPT = 200;

function loginIn(output: string): string | undefined {
  const parsed = JSON.parse(output) as { UserProfile?: { LoginName?: unknown } } | null;
  const login = parsed?.UserProfile?.LoginName;
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

/** Asks `tailscale whois`, one program per address at a time, and remembers the answers for a moment. */
export function createWhois(env: Env, clock: Pick<Clock, "monotonic">, ask: (ip: string, env: Env) => Promise<string | undefined> = askTailscale): Whois {
  const kept = new Map<string, { readonly answer: Promise<string | undefined>; until: number }>();
  return (ip) => {
    const known = kept.get(ip);
    if (known && known.until > clock.monotonic()) return known.answer;
    // A question that failed is asked again as soon as one without an answer.
    const entry = { answer: ask(ip, env).catch(() => undefined), until: Number.POSITIVE_INFINITY };
    kept.delete(ip);
    kept.set(ip, entry);
    if (kept.size > MAX_KEPT) kept.delete(kept.keys().next().value!);
    void entry.answer.then((login) => (entry.until = clock.monotonic() + (login === undefined ? KEEP_UNKNOWN_MS : KEEP_MS)));
    return entry.answer;
  };
}
