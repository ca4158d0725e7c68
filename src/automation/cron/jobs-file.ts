import { homedir } from "node:os";
import { join } from "node:path";
import type { Config } from "../../config/index.ts";

/** The scope of posts to webhooks that have not ended. */
export const POSTS = "cron-webhook";

/** Where the documented file of jobs is. */
export function jobsFile({ current, paths }: Pick<Config, "current" | "paths">): string {
  const written = current.cron?.store?.trim();
  if (!written) return join(paths.state, "cron", "jobs.json");
  return written === "~" || written.startsWith("~/") ? join(homedir(), written.slice(1)) : written;
}
