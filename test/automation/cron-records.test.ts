/** What is recorded about runs, and what does not take place. */
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Cron } from "../../src/automation/index.ts";
import { HOUR, isolated, openCronLab, T0, type CronLab } from "./cron-lab.ts";

let lab: CronLab;
let cron: Cron;

beforeEach(async () => {
  lab = await openCronLab();
  cron = await lab.open();
});
afterEach(async () => {
  await cron[Symbol.asyncDispose]();
  await lab[Symbol.asyncDispose]();
});

const at = (ms: number) => ({ kind: "at", at: new Date(T0 + ms).toISOString() }) as const;

test("times that a job does not run at because it failed are recorded once they have passed, with the reason, and never before", async () => {
  const job = await cron.add(isolated("@fail", { schedule: { kind: "every", everyMs: 10_000 } }));
  const runs = async () => (await cron.runs(job.id, 10)).map(({ status, runAtMs = 0 }) => [status, (runAtMs - T0) / 1000]);
  await lab.pass(10_000);
  await lab.ended(1);
  expect((await cron.list({}))[0]?.state).toMatchObject({ nextRunAtMs: T0 + 40_000, lastStatus: "error" });
  await lab.pass(15_000);
  expect(await runs()).toEqual([["error", 10]]);
  await lab.pass(15_000);
  await lab.ended(4);
  expect(await runs()).toEqual([
    ["error", 10],
    ["skipped", 20],
    ["skipped", 30],
    ["error", 40],
  ]);
  expect((await cron.runs(job.id, 10))[1]).toMatchObject({ error: "the job is backing off after a failure" });
});

test("a run by hand ends the wait after a failure: what passed is recorded, and the job runs at its own times again", async () => {
  const job = await cron.add(isolated("@fail", { schedule: { kind: "every", everyMs: 10_000 } }));
  await lab.pass(10_000);
  await lab.ended(1);
  await cron.update(job.id, { payload: { message: "hello" } });
  await lab.pass(12_000);
  const running = cron.run(job.id, "force");
  await lab.ended(3);
  await running;
  expect((await cron.list({}))[0]?.state).toMatchObject({ nextRunAtMs: T0 + 30_000, consecutiveErrors: 0 });
  expect((await cron.runs(job.id, 10)).map(({ status, runAtMs = 0 }) => [status, (runAtMs - T0) / 1000])).toEqual([
    ["error", 10],
    ["skipped", 20],
    ["ok", 22],
  ]);
});

test("a job with an expression begins again two seconds after a run at the earliest", async () => {
  const schedule = { kind: "cron", expr: "* * * * * *", tz: "UTC" } as const;
  const job = await cron.add(isolated("work @chunks=2 @gap=500", { schedule }));
  for (let half = 0; half < 12; half += 1) await lab.pass(500);
  const ran = (await cron.runs(job.id, 20)).flatMap(({ status, runAtMs = 0 }) => (status === "ok" ? [(runAtMs - T0) / 1000] : []));
  expect(ran).toEqual([1, 3.5]);
});

test("records of earlier versions about times to come are not shown", async () => {
  const job = await cron.add(isolated("hello"));
  const soon = [T0 + 1000, T0 + HOUR];
  await lab.store.write("cron.job.due", { id: job.id, nextRunAt: T0 + 2 * HOUR, run: [], missed: [], skipped: soon, why: "the job is backing off" });
  expect(await cron.runs(job.id, 10)).toEqual([]);
  await lab.pass(1000);
  expect((await cron.runs(job.id, 10)).map(({ runAtMs }) => runAtMs)).toEqual([T0 + 1000]);
});

test("the cost of a run is that of its calls of models", async () => {
  const job = await cron.add(isolated("@hold", { schedule: at(1000), deleteAfterRun: false }));
  await lab.pass(1000);
  await expect.poll(() => lab.responder.requests.length).toBe(1);
  const sessionKey = `agent:main:cron:${job.id}`;
  const tokens = { input: 10, output: 5, cacheRead: 0, cacheWrite: 0, durationMs: 5, provider: "acme", model: "large", agentId: "main", sessionKey };
  for (const cost of [0.25, 0.5]) await lab.store.write("usage.add", { ...tokens, cost, turnId: `cron:${job.id}:${T0 + 1000}` });
  await lab.store.write("usage.add", { ...tokens, cost: 7, turnId: "another" });
  lab.responder.abort({ sessionKey }, "rpc");
  await lab.ended(1);
  expect(await cron.runs(job.id, 1)).toMatchObject([{ status: "error", costUsd: 0.75 }]);
  expect(lab.events.at(-1)).toMatchObject({ action: "finished", costUsd: 0.75 });
});

test("a job that is removed while it runs still ends with an event and a record", async () => {
  const job = await cron.add(isolated("long @hold"));
  await lab.pass(HOUR);
  await expect.poll(() => lab.responder.requests.length).toBe(1);
  expect(await cron.remove(job.id)).toBe(true);
  lab.responder.abort({ sessionKey: `agent:main:cron:${job.id}` }, "rpc");
  await lab.ended(1);
  expect(lab.events.at(-1)).toMatchObject({ jobId: job.id, action: "finished", status: "error", runAtMs: T0 + HOUR });
  expect(await cron.runs(job.id, 10)).toMatchObject([{ status: "error" }]);
});

test("a job that is removed before its run begins is recorded as skipped", async () => {
  lab.config.current = { cron: { maxConcurrentRuns: 1 } };
  const first = await cron.add(isolated("first @hold", { schedule: at(1000) }));
  const second = await cron.add(isolated("second", { schedule: at(1001) }));
  await lab.pass(1001);
  await expect.poll(async () => (await lab.pass(0), lab.responder.requests.length)).toBe(1);
  await cron.remove(second.id);
  lab.responder.abort({ sessionKey: `agent:main:cron:${first.id}` }, "rpc");
  await lab.ended(2);
  expect(await cron.runs(second.id, 10)).toMatchObject([{ status: "skipped", error: "the job was removed" }]);
  expect(lab.events).toContainEqual(expect.objectContaining({ jobId: second.id, action: "finished", status: "skipped" }));
});

test("the answer of a job goes to a chat once: its run has no message tool, and the record says that it was sent", async () => {
  lab.config.current = { channels: { telegram: { botToken: "x" } } };
  const delivery = { mode: "announce", channel: "telegram", to: "77" } as const;
  const sent = await cron.add(isolated("to a chat", { schedule: at(1000), delivery, deleteAfterRun: false }));
  const quiet = await cron.add(isolated("to nobody", { schedule: at(2000), deleteAfterRun: false }));
  await lab.pass(1000);
  await lab.ended(1);
  await lab.pass(1000);
  await lab.ended(2);
  expect(lab.responder.requests).toMatchObject([{ reply: { to: "77" }, withoutTools: ["message"] }, {}]);
  expect(lab.responder.requests[1]).not.toHaveProperty("withoutTools");
  expect(await cron.runs(sent.id, 1)).toMatchObject([{ status: "ok", delivered: true }]);
  expect((await cron.runs(quiet.id, 1))[0]).not.toHaveProperty("delivered");
  // Only the answer that went to no chat leaves a line.
  expect(await lab.notes()).toEqual([expect.stringMatching(/^Cron: Echo: /)]);
});

test("an answer whose chat is not known is a failure, or with bestEffort a line in the main session", async () => {
  const delivery = { mode: "announce", channel: "telegram", to: "77" } as const;
  const strict = await cron.add(isolated("strict", { schedule: at(1000), delivery, deleteAfterRun: false }));
  const relaxed = await cron.add(isolated("relaxed", { schedule: at(1001), delivery: { ...delivery, bestEffort: true }, deleteAfterRun: false }));
  await lab.pass(1001);
  await lab.ended(2);
  expect(await cron.runs(strict.id, 1)).toMatchObject([{ status: "error", error: expect.stringContaining("channels.telegram") }]);
  expect(await cron.runs(relaxed.id, 1)).toMatchObject([{ status: "ok", summary: expect.stringContaining("relaxed") }]);
  expect(await lab.notes()).toContainEqual(expect.stringMatching(/^Cron: Echo: .*relaxed/));
});

test("a model that a job names has to be there", async () => {
  await cron.add(isolated("hello", { schedule: at(1000), payload: { kind: "agentTurn", message: "hello", model: "acme/none" } }));
  await lab.pass(1000);
  await lab.ended(1);
  expect(lab.responder.requests).toMatchObject([{ model: "acme/none", modelRequired: true }]);
});

test("null removes a description, and a payload is changed without naming its kind", async () => {
  const job = await cron.add(isolated("hello", { description: "daily" }));
  expect((await cron.update(job.id, { description: null })).description).toBeUndefined();
  expect((await cron.update(job.id, { payload: { model: "acme/small" } })).payload).toEqual({ kind: "agentTurn", message: "hello", model: "acme/small" });
  expect((await cron.update(job.id, { payload: { message: "bye" } })).payload).toEqual({ kind: "agentTurn", message: "bye", model: "acme/small" });
  const tea = await cron.add({ name: "tea", schedule: at(HOUR), sessionTarget: "main", wakeMode: "now", payload: { kind: "systemEvent", text: "tea" } });
  expect((await cron.update(tea.id, { payload: { text: "more tea" } })).payload).toEqual({ kind: "systemEvent", text: "more tea" });
  await expect(cron.update(tea.id, { payload: { model: "x" } })).rejects.toThrow('payload.model belongs to payload.kind="agentTurn"');
  await expect(cron.update(job.id, { payload: { kind: "agentTurn", text: "x" } })).rejects.toThrow('payload.text belongs to payload.kind="systemEvent"');
});

test("the coming times of all jobs are listed in order, up to a limit", async () => {
  const hourly = await cron.add(isolated("hourly"));
  const once = await cron.add(isolated("once", { schedule: at(1.5 * HOUR) }));
  await cron.add(isolated("off", { enabled: false }));
  const found = await cron.upcoming({ untilMs: T0 + 3 * HOUR, limit: 10 });
  expect(found).toEqual({
    times: [
      { jobId: hourly.id, atMs: T0 + HOUR },
      { jobId: once.id, atMs: T0 + 1.5 * HOUR },
      { jobId: hourly.id, atMs: T0 + 2 * HOUR },
      { jobId: hourly.id, atMs: T0 + 3 * HOUR },
    ],
    frequent: [],
    runs: 4,
    jobs: 2,
    truncated: false,
  });
  // Where not all fit, the jobs that run most often are counted.
  expect(await cron.upcoming({ untilMs: T0 + 3 * HOUR, limit: 2 })).toEqual({
    times: [{ jobId: once.id, atMs: T0 + 1.5 * HOUR }],
    frequent: [{ jobId: hourly.id, count: 3, firstMs: T0 + HOUR, lastMs: T0 + 3 * HOUR }],
    runs: 4,
    jobs: 2,
    truncated: false,
  });
});

test("jobs that run often are counted, and all times of the others are listed", async () => {
  const cronJob = (expr: string, more: object = {}) => cron.add(isolated(expr, { schedule: { kind: "cron", expr, tz: "UTC", staggerMs: 0, ...more } }));
  const second = await cron.add(isolated("second", { schedule: { kind: "every", everyMs: 1 } }));
  const minutely = await cronJob("* * * * *");
  const office = await cronJob("5,*/20 9-17 * * 1-5");
  const odd = await cronJob("*/10 * * * * *");
  const daily = await cronJob("0 9 * * *");
  const { times, frequent, runs, jobs, truncated } = await cron.upcoming({ untilMs: T0 + 24 * HOUR, limit: 500 });
  const counts = new Map(frequent.map(({ jobId, count }) => [jobId, count]));
  expect([second, minutely, odd].map(({ id }) => counts.get(id))).toEqual([86_400, 1440, 8640]);
  // Thursday noon to Friday noon: from 12:05 to 17:40, and from 9:00 to 12:00.
  expect(times.filter(({ jobId }) => jobId === office.id)).toHaveLength(23 + 13);
  expect(times.filter(({ jobId }) => jobId === daily.id).map(({ atMs }) => (atMs - T0) / HOUR)).toEqual([21]);
  expect({ runs, jobs, truncated }).toEqual({ runs: 86_400 + 1440 + 8640 + 36 + 1, jobs: 5, truncated: false });
});

test("a job that fails at its only time is reported with the command that runs it, and runs by hand", async () => {
  const job = await cron.add(isolated("@fail", { schedule: at(1000) }));
  await lab.pass(1000);
  await lab.ended(1);
  expect(await lab.notes()).toEqual([
    `The scheduled job "report" (${job.id}) failed and is not retried (to run it: \`openclaw cron run ${job.id}\`): the test asked for it`,
  ]);
  await lab.pass(5 * HOUR);
  expect(lab.responder.requests).toHaveLength(1);
  await cron.update(job.id, { payload: { message: "hello" } });
  const run = cron.run(job.id, "force");
  await lab.ended(2);
  expect(await run).toEqual({ ran: true });
  expect(lab.finished().map(([status]) => status)).toEqual(["error", "ok"]);
  expect(await cron.list({ includeDisabled: true })).toEqual([]);
});

test("a job that asks for no alerts fails at its only time without a line", async () => {
  await cron.add(isolated("@fail", { schedule: at(1000), alertAfter: 0 }));
  await lab.pass(1000);
  await lab.ended(1);
  expect(await lab.notes()).toEqual([]);
});

test("an alert stays until it is read, however many lines come after it", async () => {
  const failing = await cron.add(isolated("@fail", { name: "backup", alertAfter: 1, schedule: at(1000), deleteAfterRun: false }));
  await lab.pass(1000);
  await lab.ended(1);
  for (let n = 1; n <= 25; n += 1) {
    const { id } = await cron.add(isolated(`report ${n}`, { enabled: false }));
    const running = cron.run(id, "force");
    await lab.ended(1 + n);
    await running;
  }
  const notes = await lab.notes();
  expect(notes[0]).toContain(`The scheduled job "backup" (${failing.id}) failed`);
  // Of the others the newest are left.
  expect(notes.slice(1)).toHaveLength(20);
  expect(notes.at(-1)).toMatch(/^Cron: Echo: .*report 25/);
});

test("a run that begins late says so: to the agent, in its record and in its event", async () => {
  const tea = { name: "tea", schedule: at(HOUR), sessionTarget: "main", payload: { kind: "systemEvent", text: "make tea" } } as const;
  const now = await cron.add({ ...tea, wakeMode: "now", deleteAfterRun: false });
  await cron.add({ ...tea, name: "plants", wakeMode: "next-heartbeat", payload: { kind: "systemEvent", text: "water plants" } });
  const report = await cron.add(isolated("sum up", { schedule: at(HOUR), deleteAfterRun: false }));
  await cron[Symbol.asyncDispose]();
  lab.config.current = { agents: { defaults: { userTimezone: "UTC" } } };
  lab.clock.advance(73 * HOUR);
  cron = await lab.open();
  await lab.pass(0);
  await lab.ended(3);
  const due = "Thursday, January 15, 2026 at 1:00 PM (UTC)";
  const [reminder, work] = ["main", "cron"].map((part) => lab.responder.requests.find(({ sessionKey }) => sessionKey.split(":")[2] === part)?.message);
  expect(reminder?.replaceAll("\u202f", " ")).toMatch(
    new RegExp(`^A scheduled reminder was due 3d ago:\n\nmake tea\nThis is 3d late. It was due on ${due.replace(/[()]/g, "\\$&")}\\.`),
  );
  expect(reminder).toContain("Say that it is late");
  expect(work?.replaceAll("\u202f", " ")).toContain(`sum up\nThis is 3d late. It was due on ${due}.\nCurrent time: `);
  expect((await lab.notes())[0]).toMatch(/^water plants\nThis is 3d late\./);
  for (const { id } of [now, report]) expect(await cron.runs(id, 5)).toMatchObject([{ status: "ok", lateMs: 72 * HOUR }]);
  expect(lab.events.filter(({ action }) => action === "finished").map(({ lateMs }) => lateMs)).toEqual([72 * HOUR, 72 * HOUR, 72 * HOUR]);
});

test("a run that begins on time is not called late", async () => {
  const job = await cron.add(isolated("sum up", { schedule: at(HOUR), deleteAfterRun: false }));
  await lab.pass(HOUR);
  await lab.ended(1);
  expect((await cron.runs(job.id, 5))[0]).not.toHaveProperty("lateMs");
  expect(lab.responder.requests[0]?.message).not.toContain("late");
});

test("a run that the inbox has no space for waits: it is logged once, and shown with the reason", async () => {
  const job = await cron.add(isolated("@refuse", { name: "waiting" }));
  await lab.pass(HOUR);
  const shown = async () => (await lab.pass(1000), cron.runs(job.id, 5));
  await expect
    .poll(shown)
    .toEqual([{ ts: expect.any(Number), jobId: job.id, action: "started", runAtMs: T0 + HOUR, waiting: "too many messages wait; try again later" }]);
  for (let n = 0; n < 5; n += 1) await lab.pass(1000);
  expect(lab.warnings).toEqual(['a run of the cron job "waiting" waits and is tried again every second: too many messages wait; try again later']);
  expect(lab.finished()).toEqual([]);
});

test("runs that wait for others to end are shown with what they wait for", async () => {
  lab.config.current = { cron: { maxConcurrentRuns: 1 } };
  const jobs = [];
  for (const name of ["first", "second"]) jobs.push(await cron.add(isolated(`${name} @hold`, { name, schedule: at(1000) })));
  await lab.pass(1000);
  await expect.poll(async () => (await lab.pass(0), lab.responder.requests.length)).toBe(1);
  const runs = await Promise.all(jobs.map(async ({ id }) => (await cron.runs(id, 5))[0]));
  expect(runs.map((run) => run?.action)).toEqual(["started", "started"]);
  expect(runs.flatMap((run) => run?.waiting ?? [])).toEqual(["1 jobs are running (cron.maxConcurrentRuns)"]);
});

test("each new time of a job is announced: when it is added, claimed, moved after a failure or changed", async () => {
  const job = await cron.add(isolated("@fail", { name: "a" }));
  expect(lab.scheduled).toEqual([["a", 1]]);
  await cron.update(job.id, { description: "the same times" });
  expect(lab.scheduled).toHaveLength(1);
  await lab.pass(HOUR);
  await lab.ended(1);
  expect(lab.scheduled).toEqual([
    ["a", 1],
    ["a", 2],
  ]);
  await cron.update(job.id, { schedule: { kind: "every", everyMs: 10_000 } });
  expect(lab.scheduled.at(-1)).toEqual(["a", 1 + 10 / 3600]);
  await lab.pass(10_000);
  // Claimed with the next time ten seconds later, and moved by the pause after two failures.
  await expect
    .poll(async () => (await lab.pass(0), lab.scheduled.slice(3)))
    .toEqual([
      ["a", 1 + 20 / 3600],
      ["a", 1 + 70 / 3600],
    ]);
});
