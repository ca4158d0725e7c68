import type { TProperties } from "typebox";
import { method } from "../method.ts";
import { cronEventFields } from "../run-events.ts";
import {
  amount,
  choice,
  closed,
  count,
  effect,
  either,
  filled,
  flag,
  idempotencyKey,
  list,
  literal,
  maybe,
  moment,
  none,
  number,
  orNull,
  text,
} from "../pieces.ts";

const Schedule = either(
  closed({ kind: literal("at"), at: filled({ description: "ISO time." }) }),
  closed({ kind: literal("every"), everyMs: count(), anchorMs: maybe(amount()) }),
  closed({ kind: literal("cron"), expr: filled(), tz: maybe(text()), staggerMs: maybe(amount()) }),
);

const turnFields = {
  model: maybe(text()),
  thinking: maybe(text()),
  timeoutSeconds: maybe(amount()),
  allowUnsafeExternalContent: maybe(flag()),
  deliver: maybe(flag()),
  channel: maybe(text()),
  to: maybe(text()),
  bestEffortDeliver: maybe(flag()),
};

const Payload = either(closed({ kind: literal("systemEvent"), text: filled() }), closed({ kind: literal("agentTurn"), message: filled(), ...turnFields }));
/** Without a kind the fields say which it is, or it stays as it is. */
const PayloadPatch = closed({ kind: maybe(choice(["systemEvent", "agentTurn"])), text: maybe(filled()), message: maybe(filled()), ...turnFields });

const deliveryFields = {
  channel: maybe(text()),
  bestEffort: maybe(flag()),
  to: maybe(text()),
  accountId: maybe(text({ description: "The channel's account that sends it. Default: the account of the session's last chat." })),
  threadId: maybe(either(text(), number())),
};
const deliveryMode = choice(["none", "announce", "webhook"]);
const Delivery = closed({ mode: deliveryMode, ...deliveryFields });

const sessionTarget = choice(["main", "isolated"]);
const wakeMode = choice(["next-heartbeat", "now"]);

const State = closed({
  nextRunAtMs: maybe(moment()),
  runningAtMs: maybe(moment()),
  lastRunAtMs: maybe(moment()),
  lastStatus: maybe(choice(["ok", "error", "skipped"])),
  lastError: maybe(text()),
  lastDurationMs: maybe(number()),
  consecutiveErrors: maybe(amount()),
});

/** Our own: what happens to runs that were missed while the gateway was not running, and when failures are reported. */
const ownFields = {
  missed: maybe(
    choice(["skip", "last", "all"], {
      description: "Which runs that were missed by more than a minute are caught up. Default last; a job with a fixed time always runs.",
    }),
  ),
  missedMaxAgeMs: maybe(amount({ description: "Older missed runs are skipped. Default 6 hours." })),
  alertAfter: maybe(amount({ description: "Failures in a row after which the main session is notified; 0 never. Default 3." })),
};

/** A job as it is stored. */
export const CronJobSchema = closed({
  id: filled(),
  agentId: maybe(text()),
  sessionKey: maybe(text()),
  name: filled(),
  description: maybe(text()),
  enabled: flag(),
  deleteAfterRun: maybe(flag()),
  createdAtMs: moment(),
  updatedAtMs: moment(),
  schedule: Schedule,
  sessionTarget,
  wakeMode,
  payload: Payload,
  delivery: maybe(Delivery),
  ...ownFields,
  state: State,
});

const optionalFields = {
  agentId: maybe(orNull(text())),
  sessionKey: maybe(orNull(text())),
  description: maybe(orNull(text())),
  enabled: maybe(flag()),
  deleteAfterRun: maybe(flag()),
  ...ownFields,
};

const Patch = closed({
  ...optionalFields,
  name: maybe(filled()),
  schedule: maybe(Schedule),
  sessionTarget: maybe(sessionTarget),
  wakeMode: maybe(wakeMode),
  payload: maybe(PayloadPatch),
  delivery: maybe(closed({ mode: maybe(deliveryMode), ...deliveryFields })),
  state: maybe(State),
});

/** A job is named by `id`, or by the older `jobId`. */
const ofJob = <Fields extends TProperties>(fields: Fields) => either(closed({ id: filled(), ...fields }), closed({ jobId: filled(), ...fields }));
const key = { idempotencyKey: maybe(idempotencyKey()) };

/** Jobs that run at set times. */
export const cronMethods = {
  "cron.list": method({
    access: "operator.read",
    params: closed({ includeDisabled: maybe(flag()) }),
    result: closed({ jobs: list(CronJobSchema) }),
    effect: false,
    module: "automation",
    summary: "Lists all jobs.",
  }),
  "cron.status": method({
    access: "operator.read",
    params: none(),
    result: closed({
      enabled: flag(),
      storePath: text(),
      jobs: amount(),
      nextWakeAtMs: orNull(moment()),
      disabledBy: maybe(text({ description: "The setting or variable that disables scheduled runs." })),
    }),
    effect: false,
    module: "automation",
    summary: "Returns whether jobs run and when the next one is due.",
  }),
  "cron.upcoming": method({
    access: "operator.read",
    params: closed({ untilMs: maybe(moment()), limit: maybe(count({ maximum: 2000 })) }),
    result: closed({
      times: list(closed({ jobId: filled(), atMs: moment() })),
      frequent: list(closed({ jobId: filled(), count: count(), firstMs: moment(), lastMs: moment() }), {
        description: "Jobs that run too often to list: how often, and from when to when. Their times are not in the list.",
      }),
      runs: amount({ description: "Number of all runs, including those not listed." }),
      jobs: amount({ description: "Number of jobs that run in this period." }),
      truncated: flag({ description: "There are more than were counted." }),
    }),
    effect: false,
    module: "automation",
    summary: "Lists upcoming runs (next 24 hours unless untilMs is set), in order.",
  }),
  "cron.next": method({
    access: "operator.read",
    params: closed({
      schedule: Schedule,
      count: maybe(count({ maximum: 100 })),
      id: maybe(filled({ description: "A job to compute this schedule for: its times are exact, even if jobs are spread over some minutes." })),
    }),
    result: closed({
      times: list(moment()),
      tz: filled({ description: "The time zone of the schedule: its own, or the gateway's." }),
      spreadMs: maybe(
        count({ description: "A new job runs up to this many milliseconds later, always with the same delay. Absent when the times are exact." }),
      ),
    }),
    effect: false,
    module: "automation",
    summary: "Returns the next runs of a schedule (5 unless count is set). An invalid schedule is refused with the reason.",
  }),
  "cron.add": method({
    access: "operator.admin",
    params: effect({
      ...optionalFields,
      name: filled(),
      schedule: Schedule,
      sessionTarget,
      wakeMode,
      payload: Payload,
      delivery: maybe(Delivery),
    }),
    result: CronJobSchema,
    effect: true,
    module: "automation",
    summary: "Adds a job.",
  }),
  "cron.update": method({
    access: "operator.admin",
    params: ofJob({ patch: Patch, ...key }),
    result: CronJobSchema,
    effect: true,
    module: "automation",
    summary: "Changes a job.",
  }),
  "cron.remove": method({
    access: "operator.admin",
    params: ofJob(key),
    result: closed({ ok: flag(), removed: flag() }),
    effect: true,
    module: "automation",
    summary: "Removes a job.",
  }),
  "cron.run": method({
    access: "operator.admin",
    params: ofJob({ mode: maybe(choice(["due", "force"], { default: "force" })), ...key }),
    result: closed({ ok: flag(), ran: flag(), reason: maybe(choice(["already-running", "not-due"])) }),
    effect: true,
    module: "automation",
    summary: "Runs a job and responds when it has finished.",
  }),
  "cron.runs": method({
    access: "operator.read",
    params: ofJob({ limit: maybe(count({ maximum: 5000 })) }),
    result: closed({ entries: list(closed({ ...cronEventFields, ts: moment() })) }),
    effect: false,
    module: "automation",
    summary: "Lists the last runs of a job.",
  }),
};
