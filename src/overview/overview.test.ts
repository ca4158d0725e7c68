import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { manualClock } from "../base/clock.ts";
import { createIds } from "../base/ids.ts";
import { seededRandom } from "../base/random.ts";
import { createRedactor } from "../base/redaction.ts";
import { openConfig, type Config } from "../config/index.ts";
import type { Responder } from "../conversation/index.ts";
import type { HealthReport } from "../gateway/index.ts";
import { loadAnswerChecks } from "../protocol/index.ts";
import { openStore, type Store } from "../store/index.ts";
import { createOverview, type OverviewDeps } from "./overview.ts";
import { createModelView } from "./model-view.ts";
import { createProblemList } from "./problem.ts";
import { createRunBoard } from "./runs.ts";
import { channelTroubles, diskTroubles, modelTroubles, pluginTroubles } from "./troubles.ts";

const OFFLINE = { model: "offline/echo", offline: true, why: "no key was found", keyMissing: false };
let folder: string;
let store: Store;
let config: Config;
let clock: ReturnType<typeof manualClock>;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "overview-"));
  clock = manualClock();
  writeFileSync(join(folder, "openclaw.json"), `{ channels: { pager: { number: 5 } } }`);
  const env = { HOME: folder, OPENCLAW_STATE_DIR: folder, OPENCLAW_CONFIG_PATH: join(folder, "openclaw.json") };
  config = await openConfig({ env, cwd: folder, osHome: folder, version: "1.0.0", clock, ids: createIds(seededRandom(1)), purpose: "start" });
  store = await openStore({ stateDir: folder, clock });
});
afterEach(async () => {
  config[Symbol.dispose]();
  await store[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

async function overview(over: Partial<OverviewDeps> = {}, admin = true) {
  const health = (): HealthReport => ({ problems: [], startedAt: new Date(clock.now()).toISOString() }) as never;
  const ask = createOverview({
    config,
    store,
    clock,
    redactor: createRedactor(),
    version: "1.0.0",
    health,
    runs: { list: async () => [] },
    channels: { health: () => [], accounts: () => [] },
    plugins: () => undefined,
    model: async () => OFFLINE,
    ...over,
  });
  const answer = await ask({ admin });
  expect((await loadAnswerChecks()).result("overview", answer)).toBeUndefined();
  return answer;
}

async function message(messageId: string, sessionKey: string): Promise<number> {
  return (await store.write("inbox.accept", { channel: "pager", account: "default", conversation: "7", messageId, kind: "message", text: "hi", sessionKey }))
    .id;
}

test("a gateway in order has no problems, and tells of its model, store, disk and memory", async () => {
  const answer = await overview();
  expect(answer).toMatchObject({ answering: { model: "offline/echo", offline: true }, runs: [], queues: [], store: { engine: "sqlite", sessions: 0 } });
  expect(answer.problems.filter(({ id }) => id !== "disk")).toEqual([]);
  expect(answer.store.bytes).toBeGreaterThan(0);
  expect(answer.disk!.totalBytes).toBeGreaterThan(answer.disk!.freeBytes);
  expect(answer.memory.rssBytes).toBeGreaterThan(answer.memory.heapUsedBytes / 2);
});

test("where files are is shown to who may change things, and to nobody else", async () => {
  expect((await overview()).store.path).toBe(join(folder, "openclaw.db"));
  expect((await overview({}, false)).store).not.toHaveProperty("path");
});

test("waiting messages are listed by session, failed ones by reason with what to do", async () => {
  await message("m1", "agent:main:a");
  const failed = [await message("m2", "agent:main:b"), await message("m3", "agent:main:b")];
  for (const id of failed) {
    clock.advance(1000);
    await store.write("inbox.settle", { ids: [id], outcome: "failed", why: "the model failed" });
  }
  const { queues, problems } = await overview();
  expect(queues).toEqual([{ sessionKey: "agent:main:a", name: "a", waiting: 1, oldestAt: clock.now() - 2000 }]);
  expect(problems).toContainEqual(
    expect.objectContaining({
      level: "error",
      at: clock.now(),
      count: 2,
      text: "b: failed: the model failed",
      todo: expect.stringContaining("openclaw logs"),
      why: `in:${failed[1]}`,
      page: "trace",
    }),
  );
});

test("a failure is no problem any more once the same session answered a later message", async () => {
  const settled = async (messageId: string, sessionKey: string, outcome: "failed" | "answered"): Promise<void> => {
    const id = await message(messageId, sessionKey);
    clock.advance(1000);
    await store.write("inbox.settle", { ids: [id], outcome, why: outcome === "failed" ? "the model failed" : "" });
  };
  const failures = async () => (await overview()).problems.filter(({ page }) => page === "trace").map(({ text }) => text.split(":")[0]);
  await settled("m1", "agent:main:a", "answered");
  await settled("m2", "agent:main:a", "failed");
  await settled("m3", "agent:main:b", "failed");
  expect(await failures()).toEqual(["b", "a"]);
  await settled("m4", "agent:main:a", "answered");
  expect(await failures()).toEqual(["b"]);
  await settled("m5", "agent:main:a", "failed");
  expect(await failures()).toEqual(["a", "b"]);
});

test("an answer that did not arrive is reported with what to do", async () => {
  const row = { nonce: "n", channel: "pager", account: "default", target: "7", payload: { text: "hi" }, expiresAt: clock.now() + 1000 };
  const [id] = (await store.write("outbox.add", { rows: [row] })).ids;
  await store.write("outbox.mark", { id: id!, state: "failed", why: "blocked by the user" });
  const { problems } = await overview();
  expect(problems).toContainEqual(
    expect.objectContaining({
      text: expect.stringContaining("blocked by the user"),
      todo: expect.stringContaining("openclaw channels status"),
      why: `out:${id}`,
      count: 1,
    }),
  );
});

test("a job that failed too often in a row, or at its only time, is a problem until it runs again or asks for no alerts", async () => {
  const job = { id: "j1", name: "backup", enabled: true, schedule: { kind: "every", everyMs: 1000 }, sessionTarget: "isolated", wakeMode: "now" };
  const put = (id: string, more: object, state: object) =>
    store.write("cron.job.put", {
      id,
      job: { ...job, id, payload: { kind: "agentTurn", message: "x" }, ...more, state },
      enabled: !("schedule" in more),
      nextRunAt: null,
    });
  const failed = (failures: number) => ({ lastStatus: "error", lastError: "no space", consecutiveErrors: failures, lastRunAtMs: clock.now() });
  await put("j1", {}, failed(2));
  await put("j2", { alertAfter: 2 }, failed(2));
  await put("j3", { alertAfter: 0 }, failed(9));
  await put("j4", { name: "once", schedule: { kind: "at", at: "2026-01-15T09:00:00.000Z" } }, failed(1));
  expect((await overview()).problems.filter(({ page }) => page === "jobs").toSorted((a, b) => a.id.localeCompare(b.id))).toMatchObject([
    {
      id: "job:j2",
      level: "error",
      text: 'The scheduled job "backup" failed 2 times in a row: no space',
      todo: expect.stringContaining("openclaw cron run j2"),
    },
    { id: "job:j4", text: 'The scheduled job "once" failed at its only time and is not retried: no space' },
  ]);
  await put("j1", {}, failed(3));
  await put("j2", { alertAfter: 2 }, { lastStatus: "ok", consecutiveErrors: 0 });
  await store.write("cron.job.delete", { id: "j4" });
  expect((await overview()).problems.filter(({ page }) => page === "jobs")).toMatchObject([{ id: "job:j1" }]);
});

test("what is doubtful in the configuration is a problem from when it was seen until it is mended", async () => {
  config.extend({ channels: { pager: { type: "object", properties: { number: { type: "string" } } } } });
  const { problems } = await overview();
  expect(problems).toContainEqual(
    expect.objectContaining({ level: "warn", page: "config", text: expect.stringContaining("channels.pager.number"), at: clock.now() }),
  );
  writeFileSync(join(folder, "openclaw.json"), `{ channels: { pager: { number: "5" } } }`);
  config.reload();
  expect((await overview()).problems.filter(({ page }) => page === "config")).toEqual([]);
});

test("problems are one for each id with their number, newest first, fifty at most, and without secrets", () => {
  const list = createProblemList((text) => text.replaceAll("s3cret", "***"));
  const trouble = (id: string, at?: number) => ({ id, level: "warn" as const, text: `text of ${id} s3cret`, ...(at === undefined ? {} : { at }) });
  expect(list.of([trouble("a", 5), trouble("b", 9), trouble("a", 7), trouble("c")], 100)).toEqual([
    { id: "c", level: "warn", text: "text of c ***", at: 100, count: 1 },
    { id: "b", level: "warn", text: "text of b ***", at: 9, count: 1 },
    { id: "a", level: "warn", text: "text of a ***", at: 7, count: 2 },
  ]);
  expect(list.of([trouble("c")], 200)).toMatchObject([{ at: 100 }]);
  expect(list.of([], 300)).toEqual([]);
  expect(list.of([trouble("c")], 400)).toMatchObject([{ at: 400 }]);
  expect(list.of(Array.from({ length: 80 }, (_, index) => trouble(`x${index}`, index)), 1)).toHaveLength(50); // prettier-ignore
});

test("channels that are down or lost, plugins that failed or are skipped, are reported with the page that helps", () => {
  const channels = {
    health: () => [
      { channel: "pager", accountId: "default", state: "down" as const, why: "the token was refused" },
      { channel: "pager", accountId: "second", state: "degraded" as const, why: "" },
      { channel: "mail", accountId: "default", state: "ok" as const, why: "" },
    ],
    accounts: () => [
      { channel: "pager", snapshot: { accountId: "default", lastStopAt: 42 } },
      { channel: "pager", snapshot: { accountId: "second", lastError: "no route", lastDisconnect: { at: 43 } } },
    ],
  };
  expect(channelTroubles(channels)).toMatchObject([
    { id: "channel:pager:default", at: 42, level: "error", text: "pager (default): the token was refused", page: "channels" },
    { id: "channel:pager:second", at: 43, level: "warn", text: "pager (second): no route" },
  ]);
  const facts = {
    plugins: [{ id: "voice", status: "error", error: "no such file" }, { id: "good", status: "loaded" }] as never,
    diagnostics: [{ level: "error" as const, message: "no such file", pluginId: "voice" }, { level: "warn" as const, message: "an old name", pluginId: "good", source: "a.js", line: 3 }],
    breakers: [{ pluginId: "good", hook: "message_sent" as const, state: "open" as const, failures: 5 }, { pluginId: "good", hook: "message_sent" as const, state: "counting" as const, failures: 1 }],
  }; // prettier-ignore
  expect(pluginTroubles(facts).map(({ level, text }) => [level, text])).toEqual([
    ["error", "The plugin voice is not running: no such file"],
    ["warn", "good: an old name (a.js:3)"],
    ["warn", "message_sent of the plugin good failed 5 times in a row and is skipped"],
  ]);
});

test("a disk that is nearly full is a problem before it is full", () => {
  const GB = 1024 ** 3;
  expect(diskTroubles({ freeBytes: 2 * GB, totalBytes: 9 * GB }, "/x")).toEqual([]);
  expect(diskTroubles(undefined, "/x")).toEqual([]);
  expect(diskTroubles({ freeBytes: GB / 2, totalBytes: 9 * GB }, "/x")).toMatchObject([{ level: "warn" }]);
  expect(diskTroubles({ freeBytes: GB / 10, totalBytes: 9 * GB }, "/x")).toMatchObject([{ level: "error" }]);
});

test("a model that cannot answer is a problem: there is none, its key is missing, or all its keys rest", () => {
  const view = { model: "acme/one", why: "it is configured", keyMissing: false };
  expect(modelTroubles(view, 0)).toEqual([]);
  expect(modelTroubles({ ...view, model: null, why: "no such model" }, 0)).toMatchObject([{ level: "error", text: "No model can answer: no such model" }]);
  expect(modelTroubles({ ...view, keyMissing: true }, 0)).toMatchObject([{ id: "model:key", page: "setup" }]);
  expect(modelTroubles({ ...view, rest: { kind: "rate_limit", until: 60_000 } }, 0)).toMatchObject([
    { id: "model:rest", level: "warn", text: expect.stringContaining("rate_limit") },
  ]);
  expect(modelTroubles({ ...view, rest: { kind: "rate_limit", until: 60_000 } }, 60_000)).toEqual([]);
});

test("which model answers is looked at again after a while and when the configuration changes, not every time", async () => {
  let looks = 0;
  const rest = { kind: "rate_limit", until: 5 };
  const models = {
    select: async () => (
      looks++,
      { ref: { provider: "acme", id: "m/one" }, reason: { source: "config", text: "it is configured" }, entry: { source: "config" } }
    ),
    auth: () => ({ candidates: async () => [{ source: "env", id: "env:ACME_KEY", cooldown: rest }] }),
  };
  const view = createModelView({ models: async () => models as never, agentId: () => "main", config, clock });
  expect(await view()).toMatchObject({ model: "acme/m/one", offline: false, keyMissing: false, rest });
  await view();
  expect(looks).toBe(1);
  clock.advance(11_000);
  await view();
  await view();
  expect(looks).toBe(2);
  await config.edit({ kind: "set", path: "logging.level", value: "debug" }, { by: "test" });
  await view();
  expect(looks).toBe(3);
});

test("a look at the model that failed is no answer for those who ask later", async () => {
  let looks = 0;
  const chosen = { ref: { provider: "acme", id: "one" }, reason: { source: "config", text: "it is configured" }, entry: { source: "config" } };
  async function candidates(): Promise<readonly never[]> {
    looks += 0.5;
    // They are asked for twice in a look; every second look fails at its end.
    if (looks % 2 === 1) throw new Error("EMFILE: too many open files");
    return [];
  }
  const models = async (): Promise<never> => ({ needsNoKey: () => false, select: async () => chosen, auth: () => ({ candidates }) }) as never;
  const view = createModelView({ models, agentId: () => "main", config, clock });
  await expect(view()).rejects.toThrow("too many open files");
  expect(await view()).toMatchObject({ model: "acme/one" });
  // The old answer is given while the next one is looked for; nobody waits for that one, and it fails.
  const before = looks;
  clock.advance(11_000);
  expect(await view()).toMatchObject({ model: "acme/one" });
  await expect.poll(() => looks).toBeGreaterThan(before);
  await expect.poll(() => view().then(({ model }) => model)).toBe("acme/one");
});

test("a run is listed from start to end, with what it is doing", async () => {
  let tell: Parameters<Responder["onEvent"]>[0] = () => {};
  const conversation = {
    onEvent: (listener: typeof tell) => ((tell = listener), { [Symbol.dispose]: () => {} }),
    chatOf: (runId: string) => (runId === "r1" ? ({ address: { channel: "pager" }, messageId: "m" } as never) : undefined),
  };
  using board = createRunBoard({ conversation, store, defaultAgentId: () => "main" });
  const run = { runId: "r1", sessionKey: "agent:ops:pager:direct:7" };
  const doing = async () => (await board.list()).map((one) => one.doing);
  await store.write("sessions.put", {
    key: run.sessionKey,
    agentId: "ops",
    entry: { sessionId: "s", updatedAt: 1, model: "one", modelProvider: "acme" },
  });
  tell(run, { stream: "assistant", data: { text: "late", delta: "late" } });
  expect(await board.list()).toEqual([]);
  tell(run, { stream: "lifecycle", data: { phase: "start", startedAt: 5 } });
  expect(await board.list()).toEqual([{ ...run, agentId: "ops", startedAt: 5, channel: "pager", model: "acme/one", doing: "waits for the model" }]);
  tell(run, { stream: "tool", data: { phase: "start", name: "read", toolCallId: "1", args: {} } });
  expect(await doing()).toEqual(["runs read"]);
  tell(run, { stream: "tool", data: { phase: "result", name: "read", toolCallId: "1", isError: false, result: "" } });
  expect(await doing()).toEqual(["waits for the model"]);
  tell(run, { stream: "assistant", data: { text: "a", delta: "a" } });
  expect(await doing()).toEqual(["writes"]);
  tell(run, { stream: "lifecycle", data: { phase: "end", endedAt: 9 } });
  expect(await board.list()).toEqual([]);
});
