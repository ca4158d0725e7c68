/**
 * Work that starts by itself: scheduled jobs, sub-agents.
 * The entry point: nothing else in this folder is imported from outside.
 */
import type * as cron from "./cron/index.ts";
import type * as subagents from "./subagents/index.ts";

export type { Cron, CronEvent } from "./cron/cron.ts";
export type { CronToolDeps } from "./cron/tool.ts";
export type { CronJob, JobPatch, NewJob } from "./cron/job.ts";
export { createLazyCron, type LazyCron } from "./lazy-cron.ts";

export { createLazySubagents } from "./lazy-subagents.ts";
export type { SubagentsDeps } from "./subagents/child.ts";
export type { Subagents } from "./subagents/subagents.ts";

/** Sub-agents, loaded with the first turn. */
export const loadSubagents = async (): Promise<typeof subagents> => import("./subagents/index.ts");

/** Scheduled jobs, loaded with the first. */
export const loadCron = async (): Promise<typeof cron> => import("./cron/index.ts");
