import { expect, test } from "vitest";
import { isLong } from "./long-reads.ts";

test("what walks over all runs of jobs or all sub-agents is read where no commit waits for it", () => {
  expect(isLong("cron.slot.outcomes", { since: 0, stepMs: 1000 })).toBe(true);
  expect(isLong("subagents.list", { endedSince: 0, limit: 200 })).toBe(true);
});

test("what an index finds is read by the writer's thread, which answers in order with its commits", () => {
  expect(isLong("subagents.list", { childSessionKey: "agent:main:subagent:1", limit: 1 })).toBe(false);
  expect(isLong("cron.slot.list", { jobId: "1" })).toBe(false);
  expect(isLong("sessions.list", { limit: 10 })).toBe(false);
  expect(isLong("sessions.list", { limit: 10, offset: 50_000 })).toBe(true);
});
