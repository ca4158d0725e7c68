import { expect, test } from "vitest";
import { readWhen } from "./when.ts";

/** Noon on a Sunday, wherever this runs. */
const NOON = new Date(2026, 10, 15, 12, 0).getTime();
const at = (month: number, day: number, hour: number, minute = 0) => ({ kind: "at", at: new Date(2026, month - 1, day, hour, minute).toISOString() });

test.each<[sentence: string, schedule: object, rest: string]>([
  ["in 20 minutes to check the oven", at(11, 15, 12, 20), "to check the oven"],
  ["to call Ada in half an hour", at(11, 15, 12, 30), "to call Ada"],
  ["in 1.5 h", at(11, 15, 13, 30), ""],
  ["in a week to pay", at(11, 22, 12), "to pay"],
  ["at 15:30 to go", at(11, 15, 15, 30), "to go"],
  ["at 9 to go", at(11, 16, 9), "to go"],
  ["at 9pm", at(11, 15, 21), ""],
  ["at 12 am", at(11, 16, 0), ""],
  ["tomorrow to go", at(11, 16, 9), "to go"],
  ["to go tomorrow at 7:15", at(11, 16, 7, 15), "to go"],
  ["at 7.15 tomorrow", at(11, 16, 7, 15), ""],
  ["tonight to lock up", at(11, 15, 20), "to lock up"],
  ["on 2026-12-24 at 18:00 to sing", at(12, 24, 18), "to sing"],
  ["2026-12-24 sing", at(12, 24, 9), "sing"],
  ["every day at 8 to stretch", { kind: "cron", expr: "0 8 * * *" }, "to stretch"],
  ["every weekday at 17:45 to leave", { kind: "cron", expr: "45 17 * * 1-5" }, "to leave"],
  ["every Monday to plan", { kind: "cron", expr: "0 9 * * 1" }, "to plan"],
  ["every 2 hours to drink", { kind: "every", everyMs: 7_200_000 }, "to drink"],
  ["every minute to blink", { kind: "every", everyMs: 60_000 }, "to blink"],
])("%j", (sentence, schedule, rest) => {
  expect(readWhen(sentence, NOON)).toMatchObject({ schedule, rest });
});

test.each(["to go", "at 25:00", "at 13 pm", "on 2026-02-31", "in the morning", "in 5 apples"])("%j has no time", (sentence) => {
  expect(readWhen(sentence, NOON)).toBeUndefined();
});
