import type { Clock } from "../../../base/clock.ts";
import { AppError } from "../../../base/errors.ts";
import type { Caller } from "../handler.ts";

const CALLS = 3;
const WINDOW_MS = 60_000;

/** Calls that restart the gateway are rare: a few a minute for each caller, failed ones counted. */
export interface WriteBudget {
  /** Takes one call of the caller's budget, or refuses with the time to wait. */
  take(method: string, caller: Pick<Caller, "deviceId" | "remoteIp">): void;
}

export function createWriteBudget(clock: Pick<Clock, "now">): WriteBudget {
  const calls = new Map<string, number[]>();
  return {
    take(method, { deviceId, remoteIp }) {
      const now = clock.now();
      for (const [who, times] of calls) if (times.every((time) => now - time >= WINDOW_MS)) calls.delete(who);
      const key = `${deviceId ?? ""}|${remoteIp ?? ""}`;
      const recent = (calls.get(key) ?? []).filter((time) => now - time < WINDOW_MS);
      if (recent.length >= CALLS) {
        const retryAfterMs = recent[0]! + WINDOW_MS - now;
        throw new AppError("UNAVAILABLE", `rate limit exceeded for ${method}; retry after ${Math.ceil(retryAfterMs / 1000)}s`, {
          details: { method, limit: `${CALLS} per 60s`, retryable: true, retryAfterMs },
        });
      }
      calls.set(key, [...recent, now]);
    },
  };
}
