import { flatBranch, subagentTree } from "openclaw/client";
import { expect, test } from "vitest";
import { nameOf, runningOnly, stateOf, tookText, totalOf, type Subagent } from "./subagent-facts.ts";

const MAIN = "agent:main:main";

function subagent(id: string, requesterSessionKey: string, more: Partial<Subagent> = {}): Subagent {
  return {
    runId: id,
    sessionKey: `agent:main:subagent:${id}`,
    requesterSessionKey,
    agentId: "main",
    task: `task of ${id}`,
    status: "done",
    depth: 1,
    createdAt: 1000,
    tokens: { input: 10, output: 2, total: 12 },
    costUsd: 0.5,
    reported: true,
    hasSession: true,
    ...more,
  };
}

const a = subagent("a", MAIN);
const b = subagent("b", a.sessionKey, { status: "running", depth: 2 });
const c = subagent("c", MAIN, { status: "failed" });
const d = subagent("d", "agent:main:other", { createdAt: 2000 });

test("sub-agents hang on who started them, and the session with the newest comes first", () => {
  const [first, second] = subagentTree([a, b, c, d]);
  expect(first?.sessionKey).toBe("agent:main:other");
  expect(second?.children.map(({ subagent: { runId }, children }) => [runId, children.map((child) => child.subagent.runId)])).toEqual([
    ["a", ["b"]],
    ["c", []],
  ]);
  expect(totalOf((second?.children ?? []).flatMap(flatBranch))).toEqual({ running: 1, tokens: 36, costUsd: 1.5 });
});

test("an ended one stays in the list of those that run while something below it does", () => {
  expect(subagentTree([a, b, c, d]).map(({ children }) => runningOnly(children).flatMap(flatBranch))).toEqual([[], [a, b]]);
});

test("a sub-agent is called by its label, else by its task", () => {
  expect(nameOf(a)).toBe("task of a");
  expect(nameOf({ label: "Stars", task: "count" })).toBe("Stars");
});

test.each([
  [{ status: "queued", createdAt: 0 }, "Queued", "waiting for 1 min 1 s"],
  [{ status: "running", createdAt: 0, startedAt: 1000 }, "Running", "for 1 min"],
  [{ status: "done", createdAt: 0, startedAt: 1000, endedAt: 3500 }, "Done", "took 2.5 s"],
  [{ status: "killed", createdAt: 0, endedAt: 3500 }, "Stopped", "never started"],
] as const)("%j is shown as %s, %s", (one, state, took) => {
  const branch = { subagent: subagent("one", MAIN, one), children: [] };
  expect([stateOf(branch).text, tookText(branch, 61_000)]).toEqual([state, took]);
});

test.each([
  [{ status: "running", reported: false }, "Waiting for 1 sub-agent", "for 1 min"],
  [{ status: "done", reported: false }, "Waiting for 1 sub-agent", "for 1 min"],
  [{ status: "done", reported: true }, "Done", "took 2.5 s"],
  [{ status: "killed", reported: false }, "Done", "took 2.5 s"],
] as const)("one that has answered, with one below it that is %j, is shown as %s, %s", (below, state, took) => {
  const parent = subagent("p", MAIN, { startedAt: 1000, endedAt: 3500, reported: false });
  const branch = { subagent: parent, children: [{ subagent: subagent("k", parent.sessionKey, below), children: [] }] };
  expect([stateOf(branch).text, tookText(branch, 61_000)]).toEqual([state, took]);
});
