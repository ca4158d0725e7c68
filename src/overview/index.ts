/**
 * The overview page: what runs, what waits, what went wrong and what to do about it, in one answer.
 * The entry point: everything but the list of runs is loaded when somebody asks.
 */
export { openOverview, type OpenOverviewDeps } from "./open.ts";
