import type { PluginEntry } from "../record.ts";

/** Off only because nothing is configured yet: setting its channel up turns it on. */
export function isWaiting({ origin, enabled, error, reason }: PluginEntry): boolean {
  return !enabled && error === undefined && origin === "bundled" && (reason === "bundled (disabled by default)" || reason === "not in allowlist");
}
