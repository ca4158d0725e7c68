import type { Cron } from "../../automation/index.ts";
import type { Clock } from "../../base/clock.ts";
import type { HandlersOf } from "./handler.ts";

/** Scheduled jobs, as the methods need them. */
export interface CronPort extends Omit<Cron, "start" | typeof Symbol.asyncDispose> {
  /** The documented file of jobs. */
  readonly path: () => string;
}

const RUNS = 200;
const UPCOMING = 2000;
const NEXT = 5;
const DAY_MS = 86_400_000;
const idOf = (params: { readonly id: string } | { readonly jobId: string }): string => ("id" in params ? params.id : params.jobId);

/** Jobs that run at set times. */
export function cronHandlers(cron: CronPort, clock: Pick<Clock, "now">): HandlersOf<"cron"> {
  return {
    "cron.upcoming": ({ untilMs = clock.now() + DAY_MS, limit = UPCOMING }) => cron.upcoming({ untilMs, limit }),
    "cron.next": async ({ schedule, count = NEXT, id }) => {
      const { times, ...about } = await cron.next(schedule, count, id);
      return { times: [...times], ...about };
    },
    "cron.list": async (params) => ({ jobs: [...(await cron.list(params))] }),
    "cron.status": async () => ({ ...(await cron.status()), storePath: cron.path() }),
    "cron.add": ({ idempotencyKey: _key, ...job }) => cron.add(job),
    "cron.update": (params) => cron.update(idOf(params), params.patch),
    "cron.remove": async (params) => ({ ok: true, removed: await cron.remove(idOf(params)) }),
    "cron.run": async (params) => ({ ok: true, ...(await cron.run(idOf(params), params.mode ?? "force")) }),
    "cron.runs": async (params) => ({ entries: [...(await cron.runs(idOf(params), params.limit ?? RUNS))] }),
  };
}
