import { expect, test } from "vitest";
import { draftOf, fieldOf, jobOf, localTime, newDraft, patchOf, problemsOf, scheduleOf, unsavedText, withUnsaved, type Draft } from "./job-draft.ts";
import type { Job } from "./job-facts.ts";

const NOW = new Date(2026, 0, 15, 9, 20).getTime();
const draft = (more: Partial<Draft> = {}): Draft => ({ ...newDraft(NOW, "Europe/Berlin"), name: "Tea", text: "make tea", ...more });
const job = (more: Partial<Job> = {}): Job => ({
  id: "j",
  name: "Tea",
  enabled: true,
  createdAtMs: 1,
  updatedAtMs: 1,
  schedule: { kind: "cron", expr: "0 9 * * *", tz: "Europe/Berlin" },
  sessionTarget: "main",
  wakeMode: "now",
  payload: { kind: "systemEvent", text: "make tea" },
  state: {},
  ...more,
});

test.each<[Partial<Draft>, Job["schedule"]]>([
  [
    { repeat: "daily", time: "09:05" },
    { kind: "cron", expr: "5 9 * * *", tz: "Europe/Berlin" },
  ],
  [
    { repeat: "weekdays", time: "09:00" },
    { kind: "cron", expr: "0 9 * * 1-5", tz: "Europe/Berlin" },
  ],
  [
    { repeat: "weekly", weekday: "6", time: "23:59" },
    { kind: "cron", expr: "59 23 * * 6", tz: "Europe/Berlin" },
  ],
  [
    { repeat: "monthly", day: "31", zone: " " },
    { kind: "cron", expr: "0 9 31 * *" },
  ],
  [
    { repeat: "custom", expr: " */7 * * * * " },
    { kind: "cron", expr: "*/7 * * * *", tz: "Europe/Berlin" },
  ],
  [
    { repeat: "interval", amount: "90", unit: "minutes" },
    { kind: "every", everyMs: 5_400_000 },
  ],
  [
    { repeat: "once", at: localTime(NOW) },
    { kind: "at", at: new Date(NOW).toISOString() },
  ],
])("a schedule in words becomes one of the gateway's, and the same words again: %j", (more, schedule) => {
  const written = draft(more);
  expect(scheduleOf(written)).toEqual(schedule);
  const again = draftOf(job({ schedule }), NOW);
  expect(again.repeat).toBe(written.repeat);
  expect(scheduleOf(again)).toEqual(schedule);
});

test("expressions of other kinds, and weekdays by another number, are shown as they are or as they mean", () => {
  const repeatOf = (expr: string): string => draftOf(job({ schedule: { kind: "cron", expr } }), NOW).repeat;
  expect(["0 9 * * MON-FRI", "0 9 1 * 1", "0 9 * 2 *", "0 0 9 * * *", "*/5 * * * *", "0 9 L * *"].map(repeatOf)).toEqual([
    "weekdays",
    "custom",
    "custom",
    "custom",
    "custom",
    "custom",
  ]);
  expect(draftOf(job({ schedule: { kind: "cron", expr: "0 9 * * 7" } }), NOW)).toMatchObject({ repeat: "weekly", weekday: "0" });
  expect(draftOf(job({ schedule: { kind: "every", everyMs: 44_000 } }), NOW)).toMatchObject({ repeat: "interval", unit: "seconds", amount: "44" });
});

test("what is missing is said at its field", () => {
  expect(problemsOf(draft())).toEqual({});
  expect(problemsOf(draft({ name: " ", text: "" }))).toEqual({ name: "Enter a name", text: "Enter a reminder" });
  expect(problemsOf(draft({ repeat: "once", at: "" }))).toEqual({ at: "Enter a date and a time" });
  expect(problemsOf(draft({ repeat: "interval", amount: "0" }))).toEqual({ amount: "Enter a number above 0" });
  expect(problemsOf(draft({ repeat: "monthly", day: "32", time: "" }))).toEqual({ time: "Enter a time", day: "Enter a day from 1 to 31" });
  expect(problemsOf(draft({ kind: "work", result: "chat" }))).toEqual({ channel: "Enter a channel" });
  expect(problemsOf(draft({ kind: "work", result: "webhook", to: "ftp://x" }))).toEqual({ to: "Enter a web address" });
  expect(scheduleOf(draft({ time: "25:00" }))).toBeUndefined();
  expect(problemsOf(draft({ zone: "Mars/Base" }))).toEqual({ zone: "Unknown time zone" });
  expect(problemsOf(draft({ zone: "Mars/Base", repeat: "interval" }))).toEqual({});
});

test("a new job has what its kind needs", () => {
  expect(jobOf(draft())).toMatchObject({ sessionTarget: "main", payload: { kind: "systemEvent", text: "make tea" } });
  expect(jobOf(draft())).not.toHaveProperty("delivery");
  expect(jobOf(draft({ kind: "work", result: "chat", channel: "telegram", to: "42", model: "acme/large" }))).toMatchObject({
    sessionTarget: "isolated",
    payload: { kind: "agentTurn", message: "make tea", model: "acme/large" },
    delivery: { mode: "announce", channel: "telegram", to: "42" },
  });
});

test("a change has only what was changed", () => {
  const stored = job({ schedule: { kind: "every", everyMs: 60_000, anchorMs: 5 } });
  const shown = draftOf(stored, NOW);
  expect(patchOf(stored, shown, NOW)).toEqual({});
  expect(patchOf(stored, { ...shown, name: "Coffee", enabled: false }, NOW)).toEqual({ name: "Coffee", enabled: false });
  expect(patchOf(stored, { ...shown, amount: "2" }, NOW)).toEqual({ schedule: { kind: "every", everyMs: 120_000 } });
  expect(patchOf(stored, { ...shown, kind: "work", result: "none" }, NOW)).toEqual({
    sessionTarget: "isolated",
    payload: { kind: "agentTurn", message: "make tea" },
    delivery: { mode: "none" },
  });
  const work = job({
    sessionTarget: "isolated",
    payload: { kind: "agentTurn", message: "look", model: "a/b" },
    delivery: { mode: "announce", channel: "telegram", to: "42", accountId: "two" },
  });
  const seen = draftOf(work, NOW);
  expect(patchOf(work, { ...seen, text: "search again" }, NOW)).toEqual({ payload: { kind: "agentTurn", message: "search again", model: "a/b" } });
  expect(patchOf(work, { ...seen, model: "" }, NOW)).toEqual({ payload: { kind: "agentTurn", message: "look", model: "" } });
  expect(patchOf(work, { ...seen, result: "last" }, NOW)).toEqual({ delivery: { mode: "announce", channel: "last", to: "" } });
});

test.each<Partial<Job>>([
  { schedule: { kind: "every", everyMs: 1500, anchorMs: 5 } },
  { schedule: { kind: "every", everyMs: 1 } },
  { sessionTarget: "isolated", payload: { kind: "agentTurn", message: "look" }, delivery: { mode: "announce", channel: "telegram" } },
])("a job can be renamed whatever else it has: %j", (more) => {
  const stored = job(more);
  const renamed = { ...draftOf(stored, NOW), name: "Coffee" };
  expect(problemsOf(renamed)).toEqual({});
  expect(patchOf(stored, renamed, NOW)).toEqual({ name: "Coffee" });
});

test("what was typed and not saved comes back, and nothing else", () => {
  const before = draft();
  expect(unsavedText(before, before)).toBe("");
  const typed = { ...before, name: "Coffee", repeat: "interval" as const, enabled: false };
  expect(withUnsaved({ ...before, text: "changed by another" }, unsavedText(before, typed))).toEqual({ ...typed, text: "changed by another" });
  for (const text of ["", "{", "null", '"x"', JSON.stringify({ name: 5, repeat: "yearly", unknown: "x" })]) expect(withUnsaved(before, text)).toEqual(before);
});

test("a refusal is shown at the field it is about", () => {
  const at = (message: string, more: Partial<Draft> = {}): string | undefined => fieldOf(message, draft(more));
  expect(at('the schedule "x" cannot be used', { repeat: "custom" })).toBe("expr");
  expect(at('the schedule "x" in time zone "UTC" cannot be used: it has 1 field', { repeat: "custom" })).toBe("expr");
  expect(at('the schedule "0 9 * * *" in time zone "Mars" cannot be used: Invalid timezone "Mars"')).toBe("zone");
  expect(at("schedule.at is in the past", { repeat: "once" })).toBe("at");
  expect(at("delivery.to must be a URL", { result: "webhook" })).toBe("to");
  expect(at("the disk is full")).toBeUndefined();
});
