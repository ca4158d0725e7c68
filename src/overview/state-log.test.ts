import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { manualClock } from "../base/clock.ts";
import { createLogger } from "../base/log/logger.ts";
import { createRedactor } from "../base/redaction.ts";
import { openStore, type Store } from "../store/index.ts";
import { createHistory } from "./history.ts";
import { createStateLog, type PartState, type StateLog } from "./state-log.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
let folder: string;
let store: Store;
let clock: ReturnType<typeof manualClock>;
let states: Map<string, PartState | "starting">;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "states-"));
  clock = manualClock(Math.floor(1_700_000_000_000 / DAY) * DAY);
  store = await openStore({ stateDir: folder, clock });
  states = new Map();
});
afterEach(async () => {
  await store[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

const open = (): StateLog => createStateLog({ store, clock, log: createLogger({ clock, redactor: createRedactor(), outputs: [] }), states: () => states });
const history = (log: StateLog, hours = 24) => createHistory({ store, clock, states: log, keptMs: () => 14 * DAY })(hours);
const stored = () => store.read("meta.get", { key: "overview.states" });

function report(log: StateLog, state: PartState | "starting"): void {
  states.set("channel:pager:default", state);
  log.changed();
}

async function accept(messageId: string, over: { readonly channel?: string; readonly kind?: string } = {}): Promise<number> {
  const { channel = "pager", kind = "message" } = over;
  return (await store.write("inbox.accept", { channel, account: "default", conversation: "7", messageId, kind, text: "hi", sessionKey: "agent:main:a" })).id;
}

test("a channel's states are shown for the period, and survive a restart", async () => {
  const start = clock.now();
  const first = open();
  report(first, "ok");
  clock.advance(2 * HOUR);
  report(first, "starting");
  report(first, "slow");
  clock.advance(HOUR);
  report(first, "ok");
  clock.advance(HOUR);
  await first[Symbol.asyncDispose]();
  clock.advance(HOUR);
  const second = open();
  report(second, "down");
  clock.advance(HOUR);
  const { parts } = await history(second);
  const spans = [
    { from: start, to: start + 2 * HOUR, state: "ok" },
    { from: start + 2 * HOUR, to: start + 3 * HOUR, state: "slow" },
    { from: start + 3 * HOUR, to: start + 4 * HOUR, state: "ok" },
    { from: start + 5 * HOUR, to: start + 6 * HOUR, state: "down" },
  ];
  expect(parts.find(({ kind }) => kind === "channel")).toEqual({ id: "channel:pager:default", kind: "channel", spans });
  expect(parts.find(({ kind }) => kind === "gateway")?.spans.map(({ state }) => state)).toEqual(["ok", "down", "ok"]);
  await second[Symbol.asyncDispose]();
});

test("after a crash the time since the last sign of life is not known", async () => {
  const start = clock.now();
  const crashed = open();
  crashed.changed();
  clock.advance(5000);
  await expect.poll(stored).toMatchObject({ runs: [{ from: start }] });
  clock.advance(HOUR);
  await accept("m1");
  clock.advance(HOUR);
  const next = open();
  clock.advance(HOUR);
  const [gateway] = (await history(next)).parts;
  expect(gateway?.spans.map(({ from, to, state }) => [(from - start) / HOUR, (to - start) / HOUR, state].map((one) => (typeof one === "number" ? Math.round(one) : one)))).toEqual([
    [0, 1, "ok"],
    [1, 2, "unknown"],
    [2, 3, "ok"],
  ]); // prettier-ignore
  await next[Symbol.asyncDispose]();
});

test("nothing is written while nothing changes, and a lost connection is looked at again once it had its time", async () => {
  await using log = open();
  report(log, "ok");
  clock.advance(5000);
  await expect.poll(stored).toMatchObject({ parts: { "channel:pager:default": [[clock.now() - 5000, "ok"]] } });
  const before = await stored();
  log.changed();
  states.set("channel:pager:default", "slow");
  clock.advance(29_000);
  expect(await stored()).toEqual(before);
  clock.advance(12_000);
  await expect.poll(stored).toMatchObject({ parts: { "channel:pager:default": [[expect.any(Number), "ok"], [expect.any(Number), "slow"]] } }); // prettier-ignore
});

test("an account that is gone is off, and the record stays small however often states change", async () => {
  const log = open();
  for (let at = 0; at < 300; at += 1) {
    clock.advance(1000);
    report(log, at % 2 === 0 ? "ok" : "slow");
  }
  states.clear();
  log.changed();
  await log[Symbol.asyncDispose]();
  const { parts } = (await stored()) as { readonly parts: Readonly<Record<string, readonly (readonly [number, string])[]>> };
  expect(parts["channel:pager:default"]).toHaveLength(100);
  expect(parts["channel:pager:default"]?.at(-1)?.[1]).toBe("off");
});

test("what cannot be read in the store counts as not recorded", async () => {
  await store.write("meta.set", { key: "overview.states", value: { runs: [{ from: "x" }, 5], parts: { a: [[1, "wrong"], [2, "ok"]], b: 7 } } }); // prettier-ignore
  await using log = open();
  expect(await log.read()).toEqual({ runs: [{ from: clock.now() }], parts: { a: [[2, "ok"]], b: [] } });
});

test("messages are counted by hour and channel, with how many were answered", async () => {
  await using log = open();
  const id = await accept("m1");
  await store.write("inbox.settle", { ids: [id], outcome: "answered", why: "" });
  await accept("m2", { channel: "gateway" });
  await accept("job", { kind: "cron" });
  clock.advance(2 * HOUR);
  await accept("m3");
  const { messages, from, stepMs } = await history(log);
  expect(messages).toMatchObject({ from, total: 3, answered: 1, channels: [{ channel: "pager" }, { channel: "gateway" }] });
  expect(messages.channels.map(({ counts }) => counts.slice(-3))).toEqual([[1, 0, 1], [1, 0, 0]]); // prettier-ignore
  expect([stepMs, messages.channels[0]?.counts.length]).toEqual([HOUR, 24]);
});

test("where model calls and jobs failed is marked, and jobs are left out when none ran", async () => {
  await using log = open();
  const call = {
    sessionKey: "agent:main:a",
    agentId: "main",
    provider: "acme",
    model: "one",
    input: 1,
    output: 1,
    cacheRead: 0,
    cacheWrite: 0,
    cost: 0,
    durationMs: 1,
  };
  await store.write("usage.add", { ...call, failed: true });
  clock.advance(HOUR);
  await store.write("usage.add", { ...call, failed: true });
  await store.write("usage.add", call);
  clock.advance(HOUR);
  const { parts } = await history(log);
  expect(parts.map(({ id }) => id)).toEqual(["gateway", "models"]);
  expect(parts[1]?.spans.map(({ state, from, to }) => [state, (to - from) / 60_000])).toEqual([["down", 15], ["ok", 45], ["slow", 15], ["ok", 45]]); // prettier-ignore
});

test("thirty days of messages begin where stored messages begin", async () => {
  await using log = open();
  const { from, to, stepMs, messages } = await history(log, 720);
  expect([(to - from) / DAY, stepMs]).toEqual([29, DAY]);
  expect((to - messages.from) / DAY).toBe(14);
});
