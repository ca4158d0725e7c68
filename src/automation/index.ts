/**
 * Work that starts by itself: scheduled jobs, heartbeats, hooks from files, webhooks, sub-agents.
 * The entry point: nothing else in this folder is imported from outside.
 */
import type * as cron from "./cron/index.ts";
import type * as heartbeat from "./heartbeat/index.ts";
import type * as internalHooks from "./internal-hooks/index.ts";
import type * as subagents from "./subagents/index.ts";
import type * as webhooks from "./webhooks/index.ts";

export type { Cron, CronEvent } from "./cron/cron.ts";
export type { CronToolDeps } from "./cron/tool.ts";
export { failingOf } from "./cron/failing.ts";
export type { CronJob, JobPatch, NewJob } from "./cron/job.ts";
export { jobOf } from "./cron/jobs.ts";
export { createLazyHeartbeat, type LazyHeartbeat } from "./lazy-heartbeat.ts";
export { createLazyCron, type LazyCron } from "./lazy-cron.ts";
export type { FindHooksDeps, FoundHooks, HookModule, HookProblem, KnownHook } from "./internal-hooks/index.ts";
export { createLazyInternalHooks, type LazyInternalHooks } from "./lazy-internal-hooks.ts";
export { createLazyWebhooks, type LazyWebhooks } from "./lazy-webhooks.ts";
export type { HookAnswer, HookRequest } from "./webhooks/webhooks.ts";

/** Heartbeats, loaded with the first. */
export const loadHeartbeat = async (): Promise<typeof heartbeat> => import("./heartbeat/index.ts");

export { createLazySubagents } from "./lazy-subagents.ts";
export type { SubagentsDeps } from "./subagents/child.ts";
export type { Subagents } from "./subagents/subagents.ts";

/** Sub-agents, loaded with the first turn. */
export const loadSubagents = async (): Promise<typeof subagents> => import("./subagents/index.ts");

/** Scheduled jobs, loaded with the first. */
export const loadCron = async (): Promise<typeof cron> => import("./cron/index.ts");

/** Hooks from files, loaded where they are enabled or asked about. */
export const loadInternalHooks = async (): Promise<typeof internalHooks> => import("./internal-hooks/index.ts");

/** Webhooks, loaded with the first request. */
export const loadWebhooks = async (): Promise<typeof webhooks> => import("./webhooks/index.ts");
