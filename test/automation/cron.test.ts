import { afterEach, beforeEach, expect, test } from "vitest";
import type { Cron, CronEvent } from "../../src/automation/index.ts";
import type { ManualClock } from "../../src/base/clock.ts";
import type { OpenClawConfig } from "../../src/config/index.ts";
import type { Store } from "../../src/store/index.ts";
import type { MemoryResponder } from "../harness/memory-responder.ts";
import { HOUR, isolated, openCronLab, T0, type CronLab } from "./cron-lab.ts";

let lab: CronLab;
let clock: ManualClock;
let store: Store;
let responder: MemoryResponder;
let events: CronEvent[];
let notes: CronLab["notes"];
let config: { current: OpenClawConfig };
let cron: Cron;

beforeEach(async () => {
  lab = await openCronLab();
  ({ clock, store, responder, events, notes, config } = lab);
  cron = await lab.open();
});
afterEach(async () => {
  await cron[Symbol.asyncDispose]();
  await lab[Symbol.asyncDispose]();
});
const pass = (ms: number): Promise<void> => lab.pass(ms);
const ended = (count: number): Promise<void> => lab.ended(count);
const finished = (): ReturnType<CronLab["finished"]> => lab.finished();

test("a job runs at each of its times, in a session of its own, and its runs are recorded", async () => {
  const job = await cron.add(isolated("say hello @usage"));
  expect(job.state.nextRunAtMs).toBe(T0 + HOUR);
  await pass(HOUR - 1);
  expect(responder.requests).toEqual([]);
  await pass(1);
  await ended(1);
  await pass(HOUR);
  await ended(2);
  const [first] = responder.requests;
  expect(first).toMatchObject({ runId: `cron:${job.id}:${T0 + HOUR}`, kind: "cron", sessionKey: `agent:main:cron:${job.id}`, timeoutMs: 600_000 });
  expect(first?.message).toMatch(new RegExp(`^\\[cron:${job.id} report\\] say hello @usage\\nCurrent time: Thursday, January 15, 2026`));
  const runs = await cron.runs(job.id, 10);
  expect(runs).toMatchObject([
    {
      action: "finished",
      status: "ok",
      runAtMs: T0 + HOUR,
      model: "large",
      provider: "acme",
      usage: { input_tokens: 100, output_tokens: 20, total_tokens: 155 },
    },
    { action: "finished", status: "ok", runAtMs: T0 + 2 * HOUR },
  ]);
  expect(runs[0]?.summary).toMatch(/^Echo: /);
  expect(events.map(({ action }) => action)).toEqual(["added", "started", "finished", "started", "finished"]);
  expect((await cron.list({}))[0]?.state).toMatchObject({ lastStatus: "ok", lastRunAtMs: T0 + 2 * HOUR, nextRunAtMs: T0 + 3 * HOUR, consecutiveErrors: 0 });
});

test("a fixed time runs once and its job is removed; one that failed stays, disabled", async () => {
  const at = new Date(T0 + 5000).toISOString();
  const once = await cron.add(isolated("once", { schedule: { kind: "at", at } }));
  const failing = await cron.add(isolated("once @fail", { schedule: { kind: "at", at } }));
  expect(once.deleteAfterRun).toBe(true);
  await pass(5000);
  await ended(2);
  expect((await cron.list({ includeDisabled: true })).map(({ id, enabled }) => [id, enabled])).toEqual([[failing.id, false]]);
  await pass(10 * HOUR);
  expect(responder.requests).toHaveLength(2);
  expect(await cron.runs(once.id, 10)).toHaveLength(1);
});

test("what was claimed before a crash runs after it, once", async () => {
  const job = await cron.add(isolated("long @hold"));
  await pass(HOUR);
  await expect.poll(() => responder.requests.length).toBe(1);
  await cron[Symbol.asyncDispose]();
  // The next process finds the slot and the accepted run.
  cron = await lab.open();
  await pass(0);
  expect(responder.requests).toHaveLength(1);
  responder.abort({ sessionKey: `agent:main:cron:${job.id}` }, "rpc");
  await ended(1);
  expect(finished()).toEqual([["error", 1]]);
});

test("a slot that was claimed and whose run was never accepted runs after the restart", async () => {
  const job = await cron.add(isolated("hello"));
  await cron[Symbol.asyncDispose]();
  await store.write("cron.job.due", { id: job.id, nextRunAt: T0 + 2 * HOUR, run: [T0 + HOUR], missed: [], skipped: [] });
  cron = await lab.open();
  await ended(1);
  expect(responder.requests.map(({ runId }) => runId)).toEqual([`cron:${job.id}:${T0 + HOUR}`]);
});

test("of the times that passed while the gateway was down the last one runs, and the others are recorded", async () => {
  const job = await cron.add(isolated("hello"));
  const skipping = await cron.add(isolated("hello", { name: "skip", missed: "skip" }));
  await cron[Symbol.asyncDispose]();
  clock.advance(3.5 * HOUR);
  cron = await lab.open();
  await ended(6);
  expect((await cron.runs(job.id, 10)).map(({ status, runAtMs }) => [status, runAtMs])).toEqual([
    ["skipped", T0 + HOUR],
    ["skipped", T0 + 2 * HOUR],
    ["ok", T0 + 3 * HOUR],
  ]);
  expect((await cron.runs(skipping.id, 10)).map(({ status }) => status)).toEqual(["skipped", "skipped", "skipped"]);
  expect((await cron.runs(skipping.id, 1))[0]?.error).toMatch(/^missed: /);
});

test("a clock that is set back runs nothing twice", async () => {
  await cron.add(isolated("hello"));
  await pass(HOUR);
  await ended(1);
  clock.advance(-2 * HOUR);
  await pass(2 * HOUR);
  expect(responder.requests).toHaveLength(1);
  await pass(HOUR);
  await ended(2);
});

test("a run that has not ended is not started again: its times are recorded as skipped", async () => {
  const job = await cron.add(isolated("long @hold"));
  await pass(HOUR);
  await expect.poll(() => responder.requests.length).toBe(1);
  await pass(HOUR);
  await ended(1);
  expect(responder.requests).toHaveLength(1);
  expect(events.at(-1)).toMatchObject({ status: "skipped", error: "the previous run was still active", runAtMs: T0 + 2 * HOUR });
  expect(await cron.run(job.id, "force")).toEqual({ ran: false, reason: "already-running" });
});

test("an interval shorter than a second counts as one: each time that a long run passes over is recorded with the reason", async () => {
  const job = await cron.add(isolated("long @chunks=3 @gap=10000", { schedule: { kind: "every", everyMs: 1 } }));
  await expect.poll(async () => (await pass(1000), responder.requests.length)).toBe(1);
  for (let second = 0; second < 15; second += 1) await pass(1000);
  expect(responder.requests).toHaveLength(1);
  await expect.poll(async () => (await pass(1000), responder.requests.length)).toBe(2);
  const runs = await cron.runs(job.id, 100);
  const skipped = runs.filter(({ status }) => status === "skipped");
  expect(skipped.length).toBeGreaterThanOrEqual(15);
  expect(new Set(skipped.map(({ error }) => error))).toEqual(new Set(["the previous run was still active"]));
  const times = runs.map(({ runAtMs = 0 }) => runAtMs);
  for (const [at, time] of times.slice(1).entries()) expect(time - (times[at] ?? 0)).toBe(1000);
});

test("slow jobs delay no other below the limit, and above it they wait for one to end", async () => {
  config.current = { cron: { maxConcurrentRuns: 2 } };
  const jobs = [];
  for (const name of ["a", "b", "c"])
    jobs.push(await cron.add(isolated(`${name} @hold`, { name, schedule: { kind: "at", at: new Date(T0 + 1000).toISOString() } })));
  await pass(1000);
  await expect.poll(async () => (await pass(0), responder.requests.length)).toBe(2);
  await pass(60_000);
  expect(responder.requests).toHaveLength(2);
  responder.abort({ sessionKey: responder.requests[0]?.sessionKey ?? "" }, "rpc");
  await expect.poll(async () => (await pass(0), responder.requests.length)).toBe(3);
});

test("failures wait longer each time, and the main session is notified of three in a row", async () => {
  const job = await cron.add(isolated("@fail", { schedule: { kind: "every", everyMs: 1000 } }));
  const failures = (): number => finished().filter(([status]) => status === "error").length;
  const failed = async (count: number): Promise<void> => {
    await expect.poll(async () => (await pass(0), failures())).toBe(count);
  };
  await pass(1000);
  await failed(1);
  expect((await cron.list({}))[0]?.state).toMatchObject({ consecutiveErrors: 1, lastError: "the test asked for it", nextRunAtMs: T0 + 31_000 });
  await pass(30_000);
  await failed(2);
  await pass(60_000);
  await failed(3);
  expect((await cron.list({}))[0]?.state.nextRunAtMs).toBe(T0 + 1000 + 30_000 + 60_000 + 300_000);
  await expect.poll(notes).toEqual([`The scheduled job "report" (${job.id}) failed 3 times in a row: the test asked for it`]);
});

test("a reminder of the main session is asked of its agent, or waits for its next turn", async () => {
  const main = { sessionTarget: "main", schedule: { kind: "at", at: new Date(T0 + 1000).toISOString() }, name: "tea" } as const;
  await cron.add({ ...main, wakeMode: "now", payload: { kind: "systemEvent", text: "make tea" } });
  await cron.add({ ...main, wakeMode: "next-heartbeat", payload: { kind: "systemEvent", text: "water plants" } });
  await pass(1000);
  await ended(2);
  expect(responder.requests).toMatchObject([{ sessionKey: "agent:main:main", kind: "cron" }]);
  // In the form that the built-in offline model passes on.
  expect(responder.requests[0]?.message).toMatch(/^A scheduled reminder is due:\n\nmake tea\n\nRelay it/);
  expect(await notes()).toEqual(["water plants"]);
});

test("a reminder outside the active hours waits for the next heartbeat, and its slot says so", async () => {
  config.current = { agents: { defaults: { heartbeat: { activeHours: { start: "20:00", end: "22:00", timezone: "UTC" } } } } };
  const schedule = { kind: "at", at: new Date(T0 + 1000).toISOString() } as const;
  const { id } = await cron.add({ sessionTarget: "main", schedule, name: "night", wakeMode: "now", payload: { kind: "systemEvent", text: "sleep well" } });
  await pass(1000);
  await expect.poll(notes).toEqual(["sleep well"]);
  await expect.poll(() => cron.runs(id, 5)).toMatchObject([{ status: "skipped", error: expect.stringContaining("outside the active hours") }]);
  expect(responder.requests).toEqual([]);
});

test("an answer goes to the chat that the job names, or to the one that was used last", async () => {
  config.current = { channels: { telegram: { botToken: "x" } } };
  const soon = { kind: "at", at: new Date(T0 + 1000).toISOString() } as const;
  await store.write("sessions.put", {
    key: "agent:main:main",
    agentId: "main",
    entry: { sessionId: "s", updatedAt: T0, lastChannel: "telegram", lastTo: "42", lastAccountId: "work" },
    version: 0,
  });
  await cron.add(isolated("to the last chat", { schedule: soon, delivery: { mode: "announce" } }));
  await cron.add(isolated("to a chat", { schedule: soon, delivery: { mode: "announce", channel: "telegram", to: "77" } }));
  await cron.add(isolated("nowhere", { schedule: soon, delivery: { mode: "announce", channel: "discord" } }));
  await pass(1000);
  await ended(3);
  expect(responder.requests.map(({ reply }) => reply)).toEqual(
    expect.arrayContaining([
      { channel: "telegram", accountId: "work", to: "42", chatType: "direct" },
      { channel: "telegram", accountId: "work", to: "77", chatType: "direct" },
    ]),
  );
  expect(events.filter(({ status }) => status === "error")).toMatchObject([{ error: expect.stringContaining("cron delivery target is missing") }]);
});

test("jobs are changed, switched off, run by hand and removed", async () => {
  const job = await cron.add(isolated("hello"));
  const changed = await cron.update(job.id, {
    schedule: { kind: "cron", expr: "0 9 * * 1-5", tz: "UTC" },
    payload: { kind: "agentTurn", model: "acme/small" },
  });
  expect(changed).toMatchObject({ payload: { kind: "agentTurn", message: "hello", model: "acme/small" }, state: { nextRunAtMs: Date.UTC(2026, 0, 16, 9) } });
  expect((await cron.update(job.id, { enabled: false })).state.nextRunAtMs).toBeUndefined();
  expect(await cron.list({})).toEqual([]);
  expect(await cron.run(job.id, "due")).toEqual({ ran: false, reason: "not-due" });
  const running = cron.run(job.id, "force");
  await ended(1);
  expect(await running).toEqual({ ran: true });
  expect(responder.requests).toMatchObject([{ model: "acme/small" }]);
  expect(await cron.remove(job.id)).toBe(true);
  expect(await cron.remove(job.id)).toBe(false);
  await expect(cron.update(job.id, {})).rejects.toThrow(`unknown cron job id: ${job.id}`);
});

test("of several calls to run a job at once one runs it", async () => {
  const job = await cron.add(isolated("hello"));
  const calls = [cron.run(job.id, "force"), cron.run(job.id, "force"), cron.run(job.id, "force")];
  await ended(1);
  expect((await Promise.all(calls)).filter(({ ran }) => ran)).toHaveLength(1);
  expect(responder.requests).toHaveLength(1);
});

test("a fixed time that has run does not run again when its job is enabled again, and a new time does", async () => {
  const job = await cron.add(isolated("once", { schedule: { kind: "at", at: new Date(T0 + 1000).toISOString() }, deleteAfterRun: false }));
  await pass(1000);
  await ended(1);
  expect((await cron.update(job.id, { enabled: true })).state.nextRunAtMs).toBeUndefined();
  await pass(HOUR);
  expect(responder.requests).toHaveLength(1);
  await cron.update(job.id, { enabled: true, schedule: { kind: "at", at: new Date(T0 + 2 * HOUR).toISOString() } });
  await pass(HOUR);
  await ended(2);
});

test("a clock that was ahead and is set right does not silence jobs", async () => {
  let aheadMs = 0;
  await cron[Symbol.asyncDispose]();
  cron = await lab.open({ ...clock, now: () => clock.now() + aheadMs });
  await cron.add(isolated("hello", { schedule: { kind: "every", everyMs: 60_000 } }));
  aheadMs = 9 * HOUR;
  await pass(60_000);
  await expect.poll(async () => (await pass(0), responder.requests.length)).toBe(1);
  aheadMs = 0;
  for (let minute = 0; minute < 3; minute += 1) await pass(60_000);
  await expect.poll(async () => (await pass(0), responder.requests.length)).toBeGreaterThan(1);
});

test("an answer that goes to no chat leaves a line for the main session", async () => {
  await cron.add(isolated("hello", { schedule: { kind: "at", at: new Date(T0 + 1000).toISOString() }, delivery: { mode: "announce" } }));
  await pass(1000);
  await ended(1);
  await expect.poll(notes).toEqual([expect.stringMatching(/^Cron: Echo: /)]);
});

test("jobs that cannot be are refused", async () => {
  await expect(cron.add(isolated("x", { sessionTarget: "main" }))).rejects.toThrow('main cron jobs require payload.kind="systemEvent"');
  await expect(cron.add(isolated("x", { payload: { kind: "systemEvent", text: "x" } }))).rejects.toThrow('isolated cron jobs require payload.kind="agentTurn"');
  await expect(cron.add(isolated("x", { delivery: { mode: "webhook", to: "ftp://x" } }))).rejects.toThrow("an http or https address");
  for (const schedule of [
    { kind: "every", everyMs: Number.MAX_SAFE_INTEGER },
    { kind: "every", everyMs: 1000, anchorMs: Number.MAX_SAFE_INTEGER },
    { kind: "at", at: "2027-02-30T09:00:00Z" },
  ] as const)
    await expect(cron.add(isolated("x", { schedule }))).rejects.toMatchObject({ code: "INVALID_INPUT" });
  expect(await cron.list({ includeDisabled: true })).toEqual([]);
});

test("a name of more than 200 characters is refused; a job that has one already can be changed", async () => {
  const long = "n".repeat(201);
  const refused = { code: "INVALID_INPUT", message: expect.stringContaining("at most 200 characters, this one has 201") };
  await expect(cron.add(isolated("x", { name: long }))).rejects.toMatchObject(refused);
  const job = await cron.add(isolated("x", { name: "n".repeat(200) }));
  await expect(cron.update(job.id, { name: long })).rejects.toMatchObject(refused);
  const row = await store.read("cron.job.get", { id: job.id });
  await store.write("cron.job.put", { id: job.id, job: { ...job, name: long }, enabled: true, nextRunAt: null, version: row?.version ?? 0 });
  expect(await cron.update(job.id, { name: long, description: "an older one" })).toMatchObject({ name: long, description: "an older one" });
});

test("with cron off nothing runs by itself", async () => {
  config.current = { cron: { enabled: false } };
  const job = await cron.add(isolated("hello"));
  await pass(5 * HOUR);
  expect(responder.requests).toEqual([]);
  expect(await cron.status()).toEqual({ enabled: false, disabledBy: "cron.enabled", jobs: 1, nextWakeAtMs: null });
  const running = cron.run(job.id, "force");
  await ended(1);
  expect(await running).toEqual({ ran: true });
});

test("a thousand jobs due in the same second all run once", async () => {
  config.current = { cron: { maxConcurrentRuns: 50 } };
  const at = new Date(T0 + 1000).toISOString();
  await Promise.all(Array.from({ length: 1000 }, (_, n) => cron.add(isolated(`job ${n}`, { name: `job ${n}`, schedule: { kind: "at", at } }))));
  await pass(1000);
  await ended(1000);
  expect(new Set(responder.requests.map(({ runId }) => runId)).size).toBe(1000);
  expect(await cron.list({ includeDisabled: true })).toEqual([]);
});
