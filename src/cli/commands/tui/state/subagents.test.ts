import { expect, test } from "vitest";
import type { MethodResult } from "../../../../protocol/index.ts";
import { lastBeatText, subagentItems } from "../gateway/answers.ts";
import { createPlayer, hello, NOW, type Player } from "./tui.fixture.ts";

type Subagent = MethodResult<"subagents.list">["subagents"][number];

function subagent(id: string, requesterSessionKey: string, more: Partial<Subagent> = {}): Subagent {
  const tokens = { input: 0, output: 0, total: 0 };
  const about = { runId: id, sessionKey: `agent:main:subagent:${id}`, requesterSessionKey, agentId: "main", task: `task of ${id}` };
  return { ...about, status: "running", depth: 1, createdAt: NOW - 12_000, tokens, costUsd: 0, reported: false, hasSession: true, ...more };
}

const parent = subagent("a", "agent:main:main", {
  label: "Stars",
  status: "done",
  startedAt: NOW - 12_000,
  endedAt: NOW - 2000,
  model: "acme/large",
  tokens: { input: 5000, output: 200, total: 5200 },
  costUsd: 0.021,
});
const child = subagent("b", parent.sessionKey, { depth: 2 });
const listed = (...subagents: readonly Subagent[]) => ({
  type: "items" as const,
  kind: "subagents" as const,
  items: subagentItems({ ts: NOW, subagents, truncated: false }),
});

/** With the list open. */
function openList(...subagents: readonly Subagent[]): Player {
  const player = createPlayer();
  player.play({ type: "connected", hello: hello(["subagents.list"]), url: "ws://127.0.0.1:1" });
  player.effects();
  player.type("/subagents");
  player.keys("enter");
  expect(player.effects()).toEqual([{ kind: "pick", what: "subagents" }]);
  player.play(listed(...subagents));
  return player;
}

test("sub-agents are listed below who started them, with state, model and cost", () => {
  const player = openList(parent, child);
  const screen = player.screen({ columns: 120, rows: 24 }).join("\n");
  expect(screen).toMatch(
    /› Stars +waiting for 1 sub-agent, for 12s · acme\/large · 5200 tokens · \$0\.02 · of main\n {2}└ task of b +running for 12s · \$0\.0000/,
  );
});

test("the list follows what happens, with one question at a time, and the choice stays on its sub-agent", () => {
  const player = openList(child);
  player.play({ type: "subagents" }, { type: "subagents" }, { type: "subagents" });
  expect(player.effects()).toEqual([{ kind: "pick", what: "subagents" }]);
  player.play(listed(parent, { ...child, status: "killed", endedAt: NOW }));
  expect(player.effects()).toEqual([{ kind: "pick", what: "subagents" }]);
  expect(player.state.picker?.selected).toBe(1);
  player.play(listed(parent, child));
  player.now += 1000;
  player.play({ type: "tick" }, { type: "tick" });
  expect(player.effects()).toEqual([{ kind: "pick", what: "subagents" }]);
  player.keys("escape");
  player.now += 1000;
  player.play({ type: "subagents" }, { type: "tick" });
  expect(player.effects()).toEqual([]);
});

test("one is opened, steered or stopped, where that is possible", () => {
  const player = openList(parent, child);
  player.keys("down", "enter");
  expect(player.state.picker?.items?.map(({ value }) => value)).toEqual(["open", "steer", "stop"]);
  player.keys("down", "enter");
  player.type("look at Orion");
  player.keys("enter");
  expect(player.effects()).toEqual([{ kind: "steer-subagent", sessionKey: child.sessionKey, message: "look at Orion", key: "run-1" }]);

  const stopping = openList(parent, child);
  stopping.keys("enter");
  expect(stopping.state.picker?.items?.map(({ value }) => value)).toEqual(["open", "stop"]);
  stopping.keys("down", "enter");
  expect(stopping.effects()).toEqual([{ kind: "stop-subagent", sessionKey: parent.sessionKey, key: "run-1" }]);
  expect(stopping.state.picker).toBeUndefined();

  const entering = openList(parent);
  entering.keys("enter", "enter");
  expect(entering.state.sessionKey).toBe(parent.sessionKey);
});

test("with more behind it, or with a gateway that has no list, the command is the gateway's", () => {
  const player = createPlayer();
  for (const line of ["/subagents", "/subagents log last", "/subagents steer last go on"]) {
    player.type(line);
    player.keys("enter");
  }
  expect(player.effects().map((effect) => (effect.kind === "send" ? effect.sent.text : effect.kind))).toEqual([
    "/subagents",
    "/subagents log last",
    "/subagents steer last go on",
  ]);
});

test("the last heartbeat is shown with why it did nothing", () => {
  const player = createPlayer();
  player.type("/heartbeat");
  player.keys("enter");
  expect(player.effects()).toEqual([{ kind: "heartbeat" }]);
  expect(lastBeatText({ ts: NOW - 60_000, status: "skipped", reason: "no-heartbeat-file" }, NOW)).toBe(
    "Last heartbeat, 1m ago: did nothing: there is no HEARTBEAT.md, so no model was called",
  );
  expect(lastBeatText(null, NOW)).toBe("No heartbeat yet");
});
