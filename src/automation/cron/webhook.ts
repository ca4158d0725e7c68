import type { Clock } from "../../base/clock.ts";
import { AppError, messageOf } from "../../base/errors.ts";
import { guardedFetch } from "../../base/guarded-fetch.ts";
import type { Logger } from "../../base/log/logger.ts";
import type { Config } from "../../config/index.ts";
import type { CronEntry } from "./cron.ts";
import type { CronJob } from "./job.ts";
import type { Extra } from "./jobs.ts";

const TIMEOUT_MS = 10_000;

export interface WebhookDeps {
  readonly config: Pick<Config, "current" | "resolveSecret">;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Where a finished run is posted to: the address that its job names, or that of older jobs, which only say that they want it. */
function addressOf({ config }: WebhookDeps, { delivery }: CronJob, extra: Extra): string | undefined {
  if (delivery?.mode === "webhook") return delivery.to;
  return extra["notify"] === true ? config.current.cron?.webhook : undefined;
}

/** Posts a finished run. A failure is logged and changes nothing. */
export async function postRun(deps: WebhookDeps, job: CronJob, extra: Extra, entry: CronEntry): Promise<void> {
  const { config, clock, log } = deps;
  const to = addressOf(deps, job, extra);
  if (to === undefined || entry.summary === undefined) return;
  try {
    const secret = config.current.cron?.webhookToken;
    const token = secret === undefined ? undefined : await config.resolveSecret(secret, "cron.webhookToken");
    const headers = { "content-type": "application/json", ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) };
    using answer = await guardedFetch({ url: to, method: "POST", headers, body: JSON.stringify(entry), timeoutMs: TIMEOUT_MS, clock });
    if (answer.status > 299) throw new AppError("UNAVAILABLE", `it answered with status ${answer.status}`);
  } catch (error) {
    log.warn(`the webhook of the cron job "${job.name}" failed: ${messageOf(error)}`, { jobId: job.id, url: to });
  }
}
