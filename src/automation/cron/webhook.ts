/**
 * Posts finished runs to webhooks. What is to be posted is committed with the end of the run, and how it went is part of the run's record. A post that
 * the process did not begin is made by the next one; one that was under way is recorded as unknown, and not repeated.
 */
import type { Clock } from "../../base/clock.ts";
import { AppError, messageOf } from "../../base/errors.ts";
import { failpoint } from "../../base/failpoints.ts";
import { checkTarget, guardedFetch, type GuardedRoute } from "../../base/guarded-fetch.ts";
import type { Logger } from "../../base/log/logger.ts";
import { isRecord } from "../../base/records.ts";
import type { Config } from "../../config/index.ts";
import type { Store, Write } from "../../store/index.ts";
import type { CronEntry } from "./cron.ts";
import type { CronJob } from "./job.ts";
import type { Extra } from "./jobs.ts";
import { POSTS } from "./jobs-file.ts";

const TIMEOUT_MS = 10_000;
/** How long a gateway that stops waits for posts that are under way. */
const LAST_WAIT_MS = 2000;

/** How a post went, in the record of its run. */
export interface WebhookRecord {
  readonly state: "pending" | "sending" | "sent" | "failed" | "unknown";
  readonly error?: string;
}

export interface WebhookDeps {
  readonly config: Pick<Config, "current" | "resolveSecret">;
  readonly store: Pick<Store, "read" | "write" | "commit">;
  readonly clock: Clock;
  readonly log: Logger;
  /** How addresses are looked up and which may be reached: those of the public internet, when left out. */
  readonly reach?: Pick<GuardedRoute, "lookup" | "policy"> | undefined;
}

/** A post as it is stored until it has ended. */
export interface Posting {
  readonly to: string;
  readonly name: string;
  readonly entry: CronEntry & { readonly runAtMs: number };
}

export interface Webhooks {
  /** Posts what a commit stored. It does not reject. */
  post(posting: Posting): void;
  /** Continues what the previous process left. */
  resume(): Promise<void>;
  /** Waits for what is under way, for a short time. */
  close(): Promise<void>;
}

/** Where a finished run is posted to: the address that its job names, or that of older jobs, which only say that they want it. */
export function addressOf({ config }: Pick<WebhookDeps, "config">, { delivery }: CronJob, extra: Extra): string | undefined {
  if (delivery?.mode === "webhook") return delivery.to;
  return extra["notify"] === true ? config.current.cron?.webhook : undefined;
}

/** How long saving a job waits for the address of a name. */
const LOOKUP_MS = 2000;

/** Refuses a job whose runs could not be posted, whatever happens. A name that cannot be looked up now may be known by then. */
export async function checkWebhook({ delivery }: Pick<CronJob, "delivery">, { reach, clock }: Pick<WebhookDeps, "reach" | "clock">): Promise<void> {
  if (delivery?.mode !== "webhook" || delivery.to === undefined) return;
  const waited = Promise.withResolvers<void>();
  using _timer = clock.after(LOOKUP_MS, waited.resolve);
  const check = checkTarget({ url: delivery.to, ...reach }).catch((error: unknown) => {
    if (!(error instanceof AppError) || error.code !== "HOST_BLOCKED") return;
    const rule = "Webhooks of jobs reach public addresses only, and no setting allows others";
    throw new AppError("INVALID_INPUT", `delivery.to cannot be used: ${error.message}. ${rule}`, { details: { to: delivery.to } });
  });
  await Promise.race([check, waited.promise]);
}

const keyOf = ({ entry: { jobId, runAtMs } }: Posting): string => `${jobId}:${runAtMs}`;

/** The write that stores a post, for the commit that ends its run. */
export const postingWrite = (posting: Posting): Write => [
  "idempotency.begin",
  { scope: POSTS, key: keyOf(posting), payloadHash: keyOf(posting), about: posting },
];

function postingOf(about: unknown): Posting | undefined {
  const { to, entry } = isRecord(about) ? about : {};
  // Written above, and nowhere else.
  return typeof to === "string" && isRecord(entry) ? (about as Posting) : undefined;
}

export function createWebhooks(deps: WebhookDeps): Webhooks {
  const { config, store, clock, log, reach } = deps;
  const closing = new AbortController();
  const underWay = new Set<Promise<void>>();

  const noted = ({ entry: { jobId, runAtMs } }: Posting, webhook: WebhookRecord) =>
    ["cron.slot.note", { jobId, scheduledAt: runAtMs, patch: { webhook } }] as const;

  async function send({ to, entry }: Posting): Promise<WebhookRecord> {
    try {
      const secret = config.current.cron?.webhookToken;
      const token = secret === undefined ? undefined : await config.resolveSecret(secret, "cron.webhookToken");
      const headers = { "content-type": "application/json", ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) };
      const { signal } = closing;
      using answer = await guardedFetch({ url: to, method: "POST", headers, body: JSON.stringify(entry), timeoutMs: TIMEOUT_MS, clock, signal, ...reach });
      if (answer.status > 299) throw new AppError("UNAVAILABLE", `it responded with status ${answer.status}`);
      return { state: "sent" };
    } catch (error) {
      if (closing.signal.aborted) return { state: "unknown", error: "the gateway stopped before the server had responded" };
      return { state: "failed", error: messageOf(error) };
    }
  }

  async function end(posting: Posting, record: WebhookRecord): Promise<void> {
    const { to, name, entry } = posting;
    await store.commit([noted(posting, record), ["idempotency.complete", { scope: POSTS, key: keyOf(posting), result: record }]]);
    if (record.state !== "sent")
      log.warn(`the webhook of the cron job "${name}" ${record.state === "failed" ? "failed" : "may not have arrived"}: ${record.error}`, {
        jobId: entry.jobId,
        url: to,
      });
  }

  async function run(posting: Posting): Promise<void> {
    await store.write(...noted(posting, { state: "sending" }));
    failpoint("cron.webhook.sending");
    const record = await send(posting);
    failpoint("cron.webhook.sent");
    await end(posting, record);
  }

  function follow(work: Promise<void>, { entry, name }: Posting): void {
    const followed = work
      .catch((error: unknown) => log.error(`the webhook of the cron job "${name}" could not be recorded: ${messageOf(error)}`, { jobId: entry.jobId, error }))
      .finally(() => underWay.delete(followed));
    underWay.add(followed);
  }

  /** What the record of a run says about its post. */
  async function stateOf({ entry: { jobId, runAtMs } }: Posting): Promise<unknown> {
    const [slot] = await store.read("cron.slot.list", { jobId, before: runAtMs + 1, limit: 1 });
    const webhook = slot?.scheduledAt === runAtMs && isRecord(slot.detail) ? slot.detail["webhook"] : undefined;
    return isRecord(webhook) ? webhook["state"] : undefined;
  }

  return {
    post: (posting) => follow(run(posting), posting),
    async resume() {
      for (const { about } of await store.read("idempotency.running", { scope: POSTS })) {
        const posting = postingOf(about);
        if (!posting) continue;
        const isBegun = (await stateOf(posting)) !== "pending";
        follow(isBegun ? end(posting, { state: "unknown", error: "the gateway stopped while it was being sent" }) : run(posting), posting);
      }
    },
    async close() {
      const stop = clock.after(LAST_WAIT_MS, () => closing.abort());
      await Promise.all(underWay);
      stop[Symbol.dispose]();
    },
  };
}
