import type { MethodParams } from "openclaw/client";
import type { Job } from "./job-facts.ts";
import { locale, t } from "../../words/words.ts";

type Schedule = Job["schedule"];

export const REPEATS = ["once", "interval", "daily", "weekdays", "weekly", "monthly", "custom"] as const;
export type Repeat = (typeof REPEATS)[number];
export const UNITS = { seconds: 1000, minutes: 60_000, hours: 3_600_000, days: 86_400_000 } as const;
export type Unit = keyof typeof UNITS;
export type ResultTo = "last" | "chat" | "webchat" | "none" | "webhook";

/** A job as it is written in the form. Every field is there whatever is chosen, so that nothing is lost while one tries another choice. */
export interface Draft {
  readonly name: string;
  /** Of a reminder: what to be reminded of; of work: what is to be done. */
  readonly text: string;
  readonly kind: "reminder" | "work";
  readonly repeat: Repeat;
  /** In the browser's time zone, as `datetime-local` writes it. */
  readonly at: string;
  readonly amount: string;
  readonly unit: Unit;
  readonly time: string;
  readonly weekday: string;
  readonly day: string;
  readonly expr: string;
  /** Empty: the gateway's. */
  readonly zone: string;
  readonly result: ResultTo;
  readonly channel: string;
  readonly to: string;
  readonly model: string;
  readonly enabled: boolean;
}

export type Field = keyof Draft;
/** What is wrong with fields, for people. */
export type Problems = Readonly<Partial<Record<Field, string>>>;

const two = (value: number): string => String(value).padStart(2, "0");

/** A moment as `datetime-local` takes it. */
export function localTime(at: number): string {
  const date = new Date(at);
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}T${two(date.getHours())}:${two(date.getMinutes())}`;
}

export const newDraft = (now: number, zone: string): Draft => ({
  name: "",
  text: "",
  kind: "reminder",
  repeat: "daily",
  at: localTime(now + UNITS.hours),
  amount: "1",
  unit: "hours",
  time: "09:00",
  weekday: "1",
  day: "1",
  expr: "0 9 * * 1-5",
  zone,
  result: "last",
  channel: "",
  to: "",
  model: "",
  enabled: true,
});

/** An expression of one of the common kinds, taken apart. */
function written(expr: string): Partial<Draft> {
  const fields = expr.trim().split(/\s+/);
  const [minute = "", hour = "", day = "", month, weekday = ""] = fields;
  const isTime = fields.length === 5 && /^\d{1,2}$/.test(minute) && /^\d{1,2}$/.test(hour) && month === "*";
  if (!isTime) return { repeat: "custom", expr };
  const time = { expr, time: `${hour.padStart(2, "0")}:${minute.padStart(2, "0")}` };
  if (day !== "*") return weekday === "*" && /^\d{1,2}$/.test(day) ? { ...time, repeat: "monthly", day } : { repeat: "custom", expr };
  if (weekday === "*") return { ...time, repeat: "daily" };
  if (/^(?:1-5|mon-fri)$/i.test(weekday)) return { ...time, repeat: "weekdays" };
  return /^[0-7]$/.test(weekday) ? { ...time, repeat: "weekly", weekday: weekday === "7" ? "0" : weekday } : { repeat: "custom", expr };
}

function scheduled(schedule: Schedule): Partial<Draft> {
  if (schedule.kind === "at") return { repeat: "once", at: localTime(Date.parse(schedule.at)) };
  if (schedule.kind === "cron") return { ...written(schedule.expr), zone: schedule.tz ?? "" };
  const unit = (["days", "hours", "minutes"] as const).find((one) => schedule.everyMs % UNITS[one] === 0) ?? "seconds";
  return { repeat: "interval", unit, amount: String(schedule.everyMs / UNITS[unit]) };
}

function delivered({ mode, channel = "last", to = "" }: NonNullable<Job["delivery"]>): Partial<Draft> {
  if (mode !== "announce") return { result: mode, to };
  if (channel === "webchat") return { result: "webchat" };
  return channel === "last" && to === "" ? { result: "last" } : { result: "chat", channel: channel === "last" ? "" : channel, to };
}

/** A job as the form shows it. */
export function draftOf(job: Job, now: number): Draft {
  const { payload, delivery } = job;
  const isWork = payload.kind === "agentTurn";
  return {
    ...newDraft(now, ""),
    name: job.name,
    kind: isWork ? "work" : "reminder",
    text: isWork ? payload.message : payload.text,
    ...scheduled(job.schedule),
    ...(isWork && delivery ? delivered(delivery) : {}),
    model: isWork ? (payload.model ?? "") : "",
    enabled: job.enabled,
  };
}

const isTime = (text: string): boolean => /^([01]\d|2[0-3]):[0-5]\d$/.test(text);
const isDay = (text: string): boolean => /^\d{1,2}$/.test(text.trim()) && Number(text) >= 1 && Number(text) <= 31;
/** An interval in milliseconds: parts of a unit are fine, as in 1.5 seconds. NaN when it is none. */
const intervalOf = ({ amount, unit }: Pick<Draft, "amount" | "unit">): number =>
  /^\d{1,9}(\.\d+)?$/.test(amount.trim()) ? Math.round(Number(amount) * UNITS[unit]) : NaN;

function isZone(name: string): boolean {
  try {
    return Intl.DateTimeFormat(locale, { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}

function problemsOfTime(draft: Draft): Problems {
  const { repeat, at, time, day, expr } = draft;
  const zone = draft.zone.trim();
  if (repeat !== "once" && repeat !== "interval" && zone !== "" && !isZone(zone)) return { zone: t("Unknown time zone") };
  if (repeat === "once") return Number.isNaN(Date.parse(at)) ? { at: t("Enter a date and a time") } : {};
  if (repeat === "interval") return intervalOf(draft) >= 1 ? {} : { amount: t("Enter a number above 0") };
  if (repeat === "custom") return expr.trim() === "" ? { expr: t("Enter an expression") } : {};
  return {
    ...(isTime(time) ? {} : { time: t("Enter a time") }),
    ...(repeat === "monthly" && !isDay(day) ? { day: t("Enter a day from 1 to 31") } : {}),
  };
}

/** What can be seen to be wrong without the gateway. */
export function problemsOf(draft: Draft): Problems {
  const { name, text, kind, result, channel, to } = draft;
  return {
    ...(name.trim() === "" ? { name: t("Enter a name") } : {}),
    ...(text.trim() === "" ? { text: kind === "reminder" ? t("Enter a reminder") : t("Enter a task") } : {}),
    ...problemsOfTime(draft),
    ...(kind === "work" && result === "chat" && channel.trim() === "" ? { channel: t("Enter a channel") } : {}),
    ...(kind === "work" && result === "webhook" && !/^https?:\/\/\S+$/.test(to.trim()) ? { to: t("Enter a web address") } : {}),
  };
}

/** The schedule that is written; undefined while something is missing in it. */
export function scheduleOf(draft: Draft): Schedule | undefined {
  if (Object.keys(problemsOfTime(draft)).length > 0) return undefined;
  const { repeat, at, time, weekday, day, expr, zone } = draft;
  if (repeat === "once") return { kind: "at", at: new Date(at).toISOString() };
  if (repeat === "interval") return { kind: "every", everyMs: intervalOf(draft) };
  const [hour, minute] = time.split(":").map(Number);
  const days = { daily: "* * *", weekdays: "* * 1-5", weekly: `* * ${weekday}`, monthly: `${Number(day)} * *` };
  const whole = repeat === "custom" ? expr.trim() : `${minute} ${hour} ${days[repeat]}`;
  return { kind: "cron", expr: whole, ...(zone.trim() === "" ? {} : { tz: zone.trim() }) };
}

type NewJob = MethodParams<"cron.add">;

function deliveryOf({ result, channel, to }: Draft): NonNullable<NewJob["delivery"]> {
  if (result === "none") return { mode: "none" };
  if (result === "webhook") return { mode: "webhook", to: to.trim() };
  if (result === "webchat") return { mode: "announce", channel: "webchat", to: "" };
  return result === "last" ? { mode: "announce", channel: "last", to: "" } : { mode: "announce", channel: channel.trim(), to: to.trim() };
}

/** What `cron.add` is asked. The draft has no problems. */
export function jobOf(draft: Draft): NewJob {
  const { name, text, kind, model, enabled } = draft;
  const schedule = scheduleOf(draft);
  if (!schedule) throw new Error(t("The schedule is not complete."));
  const about = { name: name.trim(), enabled, schedule, wakeMode: "now" as const };
  if (kind === "reminder") return { ...about, sessionTarget: "main", payload: { kind: "systemEvent", text: text.trim() } };
  const settings = model.trim() === "" ? {} : { model: model.trim() };
  return { ...about, sessionTarget: "isolated", payload: { kind: "agentTurn", message: text.trim(), ...settings }, delivery: deliveryOf(draft) };
}

type Patch = Extract<MethodParams<"cron.update">, { readonly id: string }>["patch"];

/** What `cron.update` is asked: only what was changed, so that an interval does not begin again, and what the form does not show stays. */
export function patchOf(job: Job, draft: Draft, now: number): Patch {
  const old = draftOf(job, now);
  const next = jobOf(draft);
  const isSame = (...fields: readonly Field[]): boolean => fields.every((field) => old[field] === draft[field]);
  const hasSchedule = JSON.stringify(scheduleOf(old)) !== JSON.stringify(next.schedule);
  const isOfKind = isSame("kind");
  const hasModel = draft.kind === "work" && !isSame("model");
  return {
    ...(isSame("name") ? {} : { name: next.name }),
    ...(isSame("enabled") ? {} : { enabled: draft.enabled }),
    ...(hasSchedule ? { schedule: next.schedule } : {}),
    ...(isOfKind ? {} : { sessionTarget: next.sessionTarget }),
    ...(isOfKind && isSame("text") && !hasModel ? {} : { payload: { ...next.payload, ...(hasModel ? { model: draft.model.trim() } : {}) } }),
    ...(next.delivery && !(isOfKind && isSame("result", "channel", "to")) ? { delivery: next.delivery } : {}),
  };
}

const CHOICES: Readonly<Partial<Record<Field, readonly string[]>>> = {
  kind: ["reminder", "work"],
  repeat: REPEATS,
  unit: Object.keys(UNITS),
  result: ["last", "chat", "webchat", "none", "webhook"],
};

/** What was typed and not saved, as a text to store; empty when nothing was. */
export function unsavedText(before: Draft, draft: Draft): string {
  const changed = Object.entries(draft).filter(([field, value]) => before[field as Field] !== value);
  return changed.length === 0 ? "" : JSON.stringify(Object.fromEntries(changed));
}

/** The form with what was typed and not saved. What cannot be read, as that of another version, is left out. */
export function withUnsaved(before: Draft, text: string): Draft {
  try {
    const stored: unknown = JSON.parse(text);
    const entries = Object.entries(stored ?? {}).filter(
      ([field, value]) => typeof value === typeof before[field as Field] && (CHOICES[field as Field]?.includes(value) ?? true),
    );
    return { ...before, ...(Object.fromEntries(entries) as Partial<Draft>) };
  } catch {
    return before;
  }
}

/** The field that a refusal of the gateway is about; undefined when it says nothing about one. */
export function fieldOf(message: string, { repeat, result }: Pick<Draft, "repeat" | "result">): Field | undefined {
  const [, reason = message] = message.split("cannot be used:");
  if (/time ?zone/i.test(reason)) return "zone";
  if (/schedule|expression/i.test(message)) return repeat === "once" ? "at" : repeat === "interval" ? "amount" : repeat === "custom" ? "expr" : "time";
  if (/model/i.test(message)) return "model";
  if (/delivery|channel|webhook/i.test(message)) return result === "webhook" ? "to" : "channel";
  return undefined;
}
