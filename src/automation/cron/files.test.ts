import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { manualClock, type ManualClock } from "../../base/clock.ts";
import type { Logger } from "../../base/log/logger.ts";
import { openStore, type Store } from "../../store/index.ts";
import { createCronFiles, type CronFiles } from "./files.ts";
import { changeJob, jobOf, putJob } from "./jobs.ts";

const T0 = Date.UTC(2026, 0, 15, 12);
let state: string;
let store: Store;
let clock: ManualClock;
let warnings: string[];
let files: CronFiles;

beforeEach(async () => {
  state = mkdtempSync(join(tmpdir(), "oc-cron-files-"));
  clock = manualClock(T0);
  store = await openStore({ stateDir: state, clock });
  warnings = [];
  const note = (message: string): void => void warnings.push(message);
  const log: Logger = { debug: note, info: () => undefined, warn: note, error: note, fatal: note, trace: note, subsystem: () => log };
  files = createCronFiles({ config: { current: {}, paths: { home: state, state, file: join(state, "openclaw.json") } }, store, clock, log });
});
afterEach(async () => {
  await files.close();
  await store[Symbol.asyncDispose]();
  rmSync(state, { recursive: true, force: true });
});

const path = (): string => join(state, "cron", "jobs.json");
function write(text: string): void {
  mkdirSync(join(state, "cron"), { recursive: true });
  writeFileSync(path(), text);
}
const jobs = async () => (await store.read("cron.job.list", {})).map(jobOf);

const OLD = `{
  // JSON5, as another program writes it
  version: 1,
  jobs: [
    { id: "a", name: "daily", enabled: true, createdAtMs: 1700000000000, updatedAtMs: 1700000000001, schedule: { kind: "cron", expr: "0 9 * * *", tz: "UTC" },
      sessionTarget: "isolated", wakeMode: "now", payload: { kind: "agentTurn", message: "hi", deliver: true, channel: "telegram", to: "42" }, delivery: null, state: { lastStatus: "ok", lastRunAtMs: 1700000000002 } },
    { id: "b", name: "past", enabled: false, schedule: { atMs: 1600000000000 }, payload: { text: "over" }, state: {} },
    { id: "c", name: "broken", schedule: { kind: "cron", expr: "x" }, payload: { kind: "agentTurn", message: "hi" } },
    { name: "nameless" },
  ],
}`;

test("jobs of another program are read, with older forms of their fields; what is no job is named", async () => {
  write(OLD);
  await files.import();
  expect(await jobs()).toMatchObject([
    {
      id: "a",
      createdAtMs: 1700000000000,
      payload: { kind: "agentTurn", message: "hi" },
      delivery: { mode: "announce", channel: "telegram", to: "42" },
      state: { lastRunAtMs: 1700000000002, nextRunAtMs: Date.UTC(2026, 0, 16, 9) },
    },
    {
      id: "b",
      enabled: false,
      schedule: { kind: "at", at: "2020-09-13T12:26:40.000Z" },
      sessionTarget: "main",
      payload: { kind: "systemEvent", text: "over" },
    },
  ]);
  expect(warnings).toEqual([expect.stringContaining('"broken": the schedule "x" cannot be used'), expect.stringContaining('"nameless": it has no id')]);
});

test("what was written here is not read again; what another program changed is", async () => {
  write(OLD);
  await files.import();
  files.changed();
  clock.advance(500);
  await files.close();
  const written = JSON.parse(readFileSync(path(), "utf8"));
  expect(written).toMatchObject({
    version: 1,
    jobs: [{ id: "a", state: { nextRunAtMs: expect.any(Number) } }, { id: "b" }, { id: "c" }, { name: "nameless" }],
  });
  await store.write("cron.job.delete", { id: "b" });
  await files.import();
  expect((await jobs()).map(({ id }) => id)).toEqual(["a"]);
  write(JSON.stringify({ version: 1, jobs: [{ ...written.jobs[0], name: "renamed", updatedAtMs: T0 }] }));
  await files.import();
  expect((await jobs()).map(({ name }) => name)).toEqual(["renamed"]);
});

test("an edit by hand counts, with or without a new date, and a changed schedule is planned again", async () => {
  write(OLD);
  await files.import();
  files.changed();
  clock.advance(500);
  await files.close();
  const written = JSON.parse(readFileSync(path(), "utf8"));
  const [first] = written.jobs;
  write(JSON.stringify({ version: 1, jobs: [{ ...first, name: "edited", schedule: { kind: "cron", expr: "0 6 * * *", tz: "UTC" }, futureField: 1 }] }));
  await files.import();
  expect(await jobs()).toMatchObject([{ id: "a", name: "edited", state: { nextRunAtMs: Date.UTC(2026, 0, 16, 6) } }]);
});

test("fields that are not known here stay in the file, through changes of their job", async () => {
  const job = { id: "a", name: "new", schedule: { kind: "every", everyMs: 60_000, jitter: 5 }, payload: { kind: "agentTurn", message: "hi", tone: "warm" } };
  write(JSON.stringify({ version: 1, jobs: [{ ...job, notify: true, futureField: { deep: 1 } }] }));
  await files.import();
  const [stored] = await jobs();
  expect(stored).not.toHaveProperty("futureField");
  expect(stored?.payload).toEqual({ kind: "agentTurn", message: "hi" });
  await changeJob(store, "a", (old) => ({ ...old, name: "renamed", updatedAtMs: T0 + 1 }));
  files.changed();
  await files.close();
  const written = JSON.parse(readFileSync(path(), "utf8"));
  expect(written.jobs).toMatchObject([
    { id: "a", name: "renamed", notify: true, futureField: { deep: 1 }, schedule: { jitter: 5 }, payload: { tone: "warm" } },
  ]);
  write(JSON.stringify({ version: 1, jobs: [{ ...written.jobs[0], futureField: 2 }] }));
  await files.import();
  files.changed();
  await files.close();
  expect(JSON.parse(readFileSync(path(), "utf8")).jobs).toMatchObject([{ futureField: 2 }]);
});

test("jobs without a plan are planned, a reminder of the past that never ran is due, and an id counts once", async () => {
  const job = { schedule: { kind: "every", everyMs: 60_000 }, payload: { kind: "agentTurn", message: "hi" }, createdAtMs: T0 - 1000 };
  write(
    JSON.stringify({
      version: 1,
      jobs: [
        { id: "a", name: "one", ...job },
        { id: "a", name: "two", ...job },
        { id: "b", name: "past", schedule: { atMs: T0 - 86_400_000 }, payload: { text: "late" } },
      ],
    }),
  );
  await files.import();
  const plans = (await jobs()).map(({ id, name, state: { nextRunAtMs } }) => [id, name, nextRunAtMs]);
  expect(plans).toEqual([
    ["b", "past", T0 - 86_400_000],
    ["a", "one", T0 + 59_000],
  ]);
  expect(warnings).toEqual([expect.stringContaining('"two": another job has the same id, a')]);
});

test("a torn file, and one of a newer version, change nothing and are named", async () => {
  write(OLD);
  await files.import();
  warnings.length = 0;
  write(OLD.slice(0, 200));
  await files.import();
  write(`{ "version": 7, "jobs": [] }`);
  await files.import();
  expect((await jobs()).map(({ id }) => id)).toEqual(["a", "b"]);
  expect(warnings).toEqual([expect.stringContaining("cannot be read and were skipped"), expect.stringContaining("newer version (7)")]);
});

const JOB = { schedule: { kind: "every", everyMs: 60_000 }, payload: { kind: "agentTurn", message: "hi" }, createdAtMs: T0 - 1000 };

test("a file of many jobs is whole, and reads as one that was written at once", async () => {
  write(JSON.stringify({ version: 1, jobs: Array.from({ length: 230 }, (_, n) => ({ id: `j${n}`, name: `one\nof ${n} "ä"`, ...JOB })) }));
  await files.import();
  files.changed();
  await files.close();
  const text = readFileSync(path(), "utf8");
  const value = JSON.parse(text);
  expect(new Set(value.jobs.map(({ id }: { id: string }) => id)).size).toBe(230);
  expect(text).toBe(`${JSON.stringify(value, undefined, 2)}\n`);
  for (const { id } of await jobs()) await store.write("cron.job.delete", { id });
  files.changed();
  await files.close();
  expect(readFileSync(path(), "utf8")).toBe(`${JSON.stringify({ version: 1, jobs: [] }, undefined, 2)}\n`);
});

test("a process that dies just before it replaces the file loses no job, and the next one brings the file up to date", async () => {
  write(JSON.stringify({ version: 1, jobs: [{ id: "a", name: "first", ...JOB }] }));
  await files.import();
  files.changed();
  await files.close();
  const before = readFileSync(path(), "utf8");
  await store.commit([putJob({ ...(await jobs())[0]!, id: "b", name: "second" }, 0, {})]);
  files.changed();
  await files.close();
  // The new one is recorded, and the old one is still there.
  write(before);
  await files.import();
  expect((await jobs()).map(({ id }) => id).sort()).toEqual(["a", "b"]);
  await store.write("cron.job.delete", { id: "a" });
  await files.catchUp();
  await files.close();
  expect(JSON.parse(readFileSync(path(), "utf8")).jobs).toMatchObject([{ id: "b" }]);
  const { mtimeMs } = statSync(path());
  await files.catchUp();
  await files.close();
  expect(statSync(path()).mtimeMs).toBe(mtimeMs);
});

test("finished runs are lines of a file, and only the last ones of a long file stay", async () => {
  const summary = "x".repeat(1000);
  for (let n = 0; n < 2010; n += 1) files.finished({ ts: T0 + n, jobId: "a", action: "finished", status: "ok", summary });
  await files.close();
  const file = join(state, "cron", "runs", "a.jsonl");
  const lines = (): string[] => readFileSync(file, "utf8").trimEnd().split("\n");
  expect(lines()).toHaveLength(2000);
  expect(JSON.parse(lines()[0] ?? "")).toMatchObject({ ts: T0 + 10, jobId: "a", action: "finished", status: "ok" });
});
