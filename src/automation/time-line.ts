import type { OpenClawConfig } from "../config/index.ts";

/** The time as the agent's user reads it, for what nobody wrote. */
export function timeLine(now: number, config: OpenClawConfig): string {
  const zone = config.agents?.defaults?.userTimezone ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
  const text = new Intl.DateTimeFormat("en-US", { dateStyle: "full", timeStyle: "short", timeZone: zone }).format(now);
  return `Current time: ${text} (${zone})`;
}
