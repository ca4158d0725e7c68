import { AppError } from "../../base/errors.ts";
import type { OwnCaller } from "../../gateway/index.ts";
import type { CronJobSnapshot, HookCron } from "../../hooks/index.ts";
import { loadValidators, normalizeCronAdd, normalizeCronUpdate, type MethodName, type MethodParams, type MethodResult } from "../../protocol/index.ts";

type Job = MethodResult<"cron.add">;

/** A job with the status of its last run under the name that hooks document. */
export const jobSnapshot = (job: Job): CronJobSnapshot => ({
  ...job,
  state: { ...job.state, ...(job.state.lastStatus === undefined ? {} : { lastRunStatus: job.state.lastStatus }) },
});

/** Scheduled jobs for handlers of hooks: the methods of the gateway, with their checks. */
export function cronService(call: OwnCaller): HookCron {
  /** Plugins may send anything. */
  async function ask<M extends Extract<MethodName, `cron.${string}`>>(method: M, params: unknown): Promise<MethodResult<M>> {
    const issues = (await loadValidators()).params(method, params) ?? [];
    if (issues.length > 0) throw new AppError("INVALID_INPUT", `getCron(): ${method} was called with invalid parameters: ${issues.join("; ")}`);
    // Checked right above.
    return call(method, params as MethodParams<M>);
  }
  return {
    list: async (options = {}) => (await ask("cron.list", options)).jobs.map(jobSnapshot),
    add: async (job) => jobSnapshot(await ask("cron.add", normalizeCronAdd(job))),
    update: async (id, patch) => jobSnapshot(await ask("cron.update", normalizeCronUpdate({ id, patch }))),
    remove: (id) => ask("cron.remove", { id }),
  };
}
