/** Scheduled jobs: what is loaded with the first of them. */
export { createCron } from "./cron.ts";
export { createCronFiles } from "./files.ts";
export { cronTool } from "./tool.ts";
export { targetOf } from "./run.ts";
export { previewTimes } from "./schedule.ts";
export { createRetention } from "./retention.ts";
