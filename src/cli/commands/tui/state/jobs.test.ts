import { expect, test } from "vitest";
import type { MethodResult } from "../../../../protocol/index.ts";
import { historyText, jobItems } from "../gateway/jobs.ts";
import { createPlayer, hello, NOW, type Player } from "./tui.fixture.ts";

type Job = MethodResult<"cron.list">["jobs"][number];

const job = (name: string, state: Job["state"], more: Partial<Job> = {}): Job => ({
  id: name.toLowerCase(),
  name,
  enabled: true,
  createdAtMs: 1,
  updatedAtMs: 1,
  schedule: { kind: "every", everyMs: 1500 },
  sessionTarget: "main",
  wakeMode: "now",
  payload: { kind: "systemEvent", text: "x" },
  state,
  ...more,
});
const tea = job("Tea", { nextRunAtMs: NOW + 300_000 });
const report = job("Report", { nextRunAtMs: NOW + 60_000, lastRunAtMs: NOW - 7_200_000, lastStatus: "error", lastError: "no key" });
const old = job("Old", { nextRunAtMs: NOW + 1, lastRunAtMs: NOW - 60_000, lastStatus: "ok" }, { enabled: false });
const listed = (...jobs: readonly Job[]) => ({ type: "items" as const, kind: "jobs" as const, items: jobItems(jobs, NOW) });

function openList(...jobs: readonly Job[]): Player {
  const player = createPlayer();
  player.play({ type: "connected", hello: hello(["cron.list"]), url: "ws://127.0.0.1:1" });
  player.effects();
  player.type("/jobs");
  player.keys("enter");
  expect(player.effects()).toEqual([{ kind: "pick", what: "jobs" }]);
  player.play(listed(...jobs));
  return player;
}

test("jobs are listed with their next run and how the last one went, those that run next first", () => {
  const screen = openList(tea, report, old).screen({ columns: 120, rows: 24 }).join("\n");
  expect(screen).toMatch(
    /› Report +every 1500ms · next in 1m · last error 2h ago: no key\n +Tea +every 1500ms · next in 5m · never ran\n +Old +every 1500ms · disabled · last ok 1m ago/,
  );
});

test("a job is run, disabled, enabled, or its history is shown", () => {
  const player = openList(tea, old);
  player.keys("enter");
  expect(player.state.picker?.items?.map(({ value }) => value)).toEqual(["run", "history", "disable"]);
  player.keys("enter");
  expect(player.effects()).toEqual([{ kind: "job", action: "run", id: "tea", name: "Tea", key: "run-1" }]);
  expect(player.screen({ columns: 80, rows: 24 }).join("\n")).toContain("Started Tea");

  const other = openList(tea, old);
  other.keys("down", "enter", "down", "down", "enter");
  expect(other.effects()).toEqual([{ kind: "job", action: "enable", id: "old", name: "Old", key: "run-1" }]);
});

test("the list follows what happens to jobs, with one question at a time", () => {
  const player = openList(tea, report);
  player.keys("down");
  player.play({ type: "jobs" }, { type: "jobs" });
  expect(player.effects()).toEqual([{ kind: "pick", what: "jobs" }]);
  player.play(listed(tea));
  expect(player.effects()).toEqual([{ kind: "pick", what: "jobs" }]);
  expect(player.state.picker?.selected).toBe(0);
});

test("the history has status, time, cost and what came of each run, newest first", () => {
  const runs: Parameters<typeof historyText>[1] = [
    { ts: NOW, jobId: "tea", action: "finished", runAtMs: 0, status: "ok", durationMs: 3000, costUsd: 0.0012, summary: "Tea\nis ready" },
    { ts: NOW, jobId: "tea", action: "finished", runAtMs: 1000, status: "skipped", error: "missed" },
  ];
  expect(historyText("Tea", runs)).toBe("Runs of Tea:\n1970-01-01T00:00:01.000Z skipped: missed\n1970-01-01T00:00:00.000Z ok, 3s, $0.0012: Tea is ready");
  const others: typeof runs = [
    { ts: NOW, jobId: "tea", action: "finished", runAtMs: 0, status: "ok", lateMs: 3_600_000, webhook: { state: "failed", error: "x" } },
    { ts: NOW, jobId: "tea", action: "started", runAtMs: 1000, waiting: "too many messages wait" },
  ];
  expect(historyText("Tea", others)).toBe(
    "Runs of Tea:\n1970-01-01T00:00:01.000Z running: too many messages wait\n1970-01-01T00:00:00.000Z ok, 1h late, webhook failed",
  );
  expect(historyText("Tea", [])).toBe("Tea has not run yet");
});
