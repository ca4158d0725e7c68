/** Rate limits by bucket, as Discord's headers tell them, and the one over all requests. */
import type { Answer, Asked } from "../../../src/plugin-testing/index.ts";

export interface Limit {
  readonly limit: number;
  readonly perMs: number;
}

interface Window {
  startedAt: number;
  used: number;
}

const GENEROUS: Limit = { limit: 1000, perMs: 1000 };

/** Routes with the same shape and the same top-level id share a bucket; ids further down do not matter. */
function routeOf({ method, path }: Asked): string {
  const [, top = "", rest = ""] = /^\/api\/v10(\/(?:channels|guilds|webhooks)\/[^/]+)?(.*)$/.exec(path) ?? [];
  return `${method} ${top}${rest.replaceAll(/\/\d{10,}/g, "/:id").replace(/\/reactions\/.*/, "/reactions/:emoji")}`;
}

export interface RateLimits {
  /** Undefined: it may pass, with these headers. */
  check(asked: Asked): { readonly refused?: Answer; readonly headers: Record<string, string> };
  /** From now on new messages in every channel have this limit; undefined lifts it. */
  messages(limit: Limit | undefined): void;
  /** Nothing at all is taken for this long. */
  global(ms: number): void;
}

export function createRateLimits(now: () => number): RateLimits {
  const windows = new Map<string, Window>();
  let forMessages: Limit | undefined;
  let globalUntil = 0;

  function refusal(retryMs: number, global: boolean, headers: Record<string, string>): Answer {
    const seconds = retryMs / 1000;
    const scope = { "x-ratelimit-scope": global ? "global" : "user", ...(global ? { "x-ratelimit-global": "true" } : {}) };
    return {
      status: 429,
      body: { message: "You are being rate limited.", retry_after: seconds, global },
      headers: { ...headers, "retry-after": String(Math.ceil(seconds)), ...scope },
    };
  }

  return {
    check(asked) {
      const at = now();
      if (at < globalUntil) return { refused: refusal(globalUntil - at, true, {}), headers: {} };
      const route = routeOf(asked);
      const isMessage = /^POST \/channels\/\d+\/messages$/.test(route);
      const { limit, perMs } = (isMessage ? forMessages : undefined) ?? GENEROUS;
      const known = windows.get(route);
      const window = known && at - known.startedAt < perMs ? known : { startedAt: at, used: 0 };
      windows.set(route, window);
      const left = window.startedAt + perMs - at;
      const over = window.used >= limit;
      if (!over) window.used += 1;
      const headers = {
        "x-ratelimit-limit": String(limit),
        "x-ratelimit-remaining": String(Math.max(0, limit - window.used)),
        "x-ratelimit-reset": String((at + left) / 1000),
        "x-ratelimit-reset-after": String(left / 1000),
        "x-ratelimit-bucket": Buffer.from(route.replace(/\/\d{10,}/, ""))
          .toString("hex")
          .slice(0, 32),
      };
      return over ? { refused: refusal(left, false, headers), headers } : { headers };
    },
    messages(limit) {
      forMessages = limit;
      windows.clear();
    },
    global(ms) {
      globalUntil = now() + ms;
    },
  };
}
