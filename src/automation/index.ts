/**
 * Work that starts by itself: scheduled jobs.
 * The entry point: nothing else in this folder is imported from outside.
 */
export { createCron, type Cron, type CronDeps, type CronEntry, type CronEvent } from "./cron/cron.ts";
export type { CronJob, JobPatch, NewJob } from "./cron/job.ts";
