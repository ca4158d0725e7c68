/**
 * Work that starts by itself: scheduled jobs, webhooks.
 * The entry point: nothing else in this folder is imported from outside.
 */
import type * as cron from "./cron/index.ts";
import type * as webhooks from "./webhooks/index.ts";

export type { Cron, CronEvent } from "./cron/cron.ts";
export type { CronToolDeps } from "./cron/tool.ts";
export type { CronJob, JobPatch, NewJob } from "./cron/job.ts";
export { createLazyCron, type LazyCron } from "./lazy-cron.ts";
export { createLazyWebhooks, type LazyWebhooks } from "./lazy-webhooks.ts";
export type { HookAnswer, HookRequest } from "./webhooks/webhooks.ts";

/** Scheduled jobs, loaded with the first. */
export const loadCron = async (): Promise<typeof cron> => import("./cron/index.ts");

/** Webhooks, loaded with the first request. */
export const loadWebhooks = async (): Promise<typeof webhooks> => import("./webhooks/index.ts");
