import type { OpenClawConfig } from "../config/index.ts";

/** A time as the agent's user reads it. */
export function timeText(at: number, config: OpenClawConfig): string {
  const zone = config.agents?.defaults?.userTimezone ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
  return `${new Intl.DateTimeFormat("en-US", { dateStyle: "full", timeStyle: "short", timeZone: zone }).format(at)} (${zone})`;
}

/** The time now, for what nobody wrote. */
export const timeLine = (now: number, config: OpenClawConfig): string => `Current time: ${timeText(now, config)}`;
