/** Sub-agents as clients see them: the tree with what it costs, stopping, steering, and the events that say that something changed. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import type { MethodResult } from "../../src/protocol/index.ts";
import { startLabGateway, type LabGateway } from "../conformance/channels/lab-gateway.ts";
import { isTask, labChat, lastResult, PATIENCE, spawning } from "../harness/lab-chat.ts";

type Tree = MethodResult<"subagents.list">;

let gateway: LabGateway;
const { call, reports } = labChat(() => gateway);

beforeAll(async () => {
  gateway = await startLabGateway({ build: "dist-test" });
  const { defaults } = gateway.sections["agents"] as { defaults: object };
  gateway.configure({ agents: { defaults: { ...defaults, subagents: { maxSpawnDepth: 2 } } } });
  await gateway.stop();
  await gateway.start();
});
afterAll(() => gateway?.[Symbol.asyncDispose]());
beforeEach(() => gateway.model.answers(undefined));
afterEach(() => gateway.model.holds(undefined));

const treeOf = async (sessionKey: string): Promise<Tree["subagents"]> => (await call<Tree>("subagents.list", { sessionKey })).subagents;

const named = (task: string) => spawning(task, { label: task });

/** The session starts a child, which starts a grandchild that does not end by itself. */
async function grow(session: string, word: string): Promise<void> {
  gateway.model.holds((request) => isTask(request) && request.user.includes(`${word} grandchild`) && !request.user.includes("[System Message]"));
  gateway.model.answers((request) => {
    if (request.user.includes("[System Message]")) return "reported";
    if (lastResult(request)) return "started";
    if (!isTask(request)) return request.user.includes(word) ? named(`${word} child`) : undefined;
    return request.user.includes(`${word} child`) ? named(`${word} grandchild`) : undefined;
  });
  await call("chat.send", { sessionKey: session, message: word, idempotencyKey: `say-${word}` });
  await expect.poll(async () => (await treeOf(session)).map(({ status }) => status), PATIENCE).toEqual(["done", "running"]);
}

test("the tree names parents, states, models and costs, and only what is below the session", async () => {
  const session = "agent:main:tree";
  await grow(session, "oak");
  const [child, grandchild] = await treeOf(session);
  expect(child).toMatchObject({ requesterSessionKey: session, label: "oak child", task: "oak child", depth: 1, agentId: "main", hasSession: true });
  expect(grandchild).toMatchObject({ requesterSessionKey: child?.sessionKey, label: "oak grandchild", depth: 2, reported: false });
  expect(child?.model).toMatch(/.+\/.+/);
  expect(child?.tokens.total).toBeGreaterThan(0);
  expect(child?.endedAt).toBeGreaterThanOrEqual(child?.createdAt ?? Infinity);
  expect(await treeOf("agent:main:another")).toEqual([]);
  // The one that runs comes first, and its parent with it.
  const cut = await call<Tree>("subagents.list", { limit: 1 });
  expect(cut).toMatchObject({ truncated: true, subagents: [{ label: "oak child" }, { label: "oak grandchild" }] });
  const { output } = await gateway.cli("why", grandchild?.runId ?? "", "--verbose");
  expect(output).toContain(`sub-agent task "oak grandchild", started by session ${child?.sessionKey}`);
  await call("subagents.kill", { sessionKey: grandchild?.sessionKey });
});

test("a child that waits for its own is stopped with them, once, and clients are notified", async () => {
  const session = "agent:main:stopped";
  await grow(session, "elm");
  const [child, grandchild] = await treeOf(session);
  const key = { sessionKey: child?.sessionKey, idempotencyKey: "stop-elm" };
  expect(await call("subagents.kill", key)).toEqual({ ok: true, killed: 2 });
  expect(await call("subagents.kill", key)).toEqual({ ok: true, killed: 2 });
  expect(await call("subagents.kill", { sessionKey: child?.sessionKey })).toEqual({ ok: true, killed: 0 });
  const killed = { status: "killed", reported: true };
  expect(await treeOf(session)).toMatchObject([
    { ...killed, startedAt: child?.startedAt, tokens: child?.tokens },
    { ...killed, startedAt: grandchild?.startedAt },
  ]);
  const about = gateway.operator.frames
    .filter(({ event }) => event === "subagent")
    .map(({ payload }) => payload as { action: string; sessionKey: string; outcome?: string });
  const ofGrandchild = about.filter(({ sessionKey }) => sessionKey === grandchild?.sessionKey);
  expect(ofGrandchild.map(({ action, outcome }) => [action, outcome])).toEqual([
    ["spawned", undefined],
    ["ended", "killed"],
  ]);
  await gateway.kill();
  await gateway.start();
  expect(await treeOf(session)).toMatchObject([killed, killed]);
  await gateway.aside();
  expect(reports("elm child")).toEqual([]);
});

test("a child reports when the one that it waits for was stopped", async () => {
  const session = "agent:main:waited";
  await grow(session, "fir");
  const [, grandchild] = await treeOf(session);
  expect(grandchild?.startedAt).toBeGreaterThan(0);
  expect(await call("subagents.kill", { sessionKey: grandchild?.sessionKey })).toEqual({ ok: true, killed: 1 });
  await expect
    .poll(() => treeOf(session), PATIENCE)
    .toMatchObject([
      { status: "done", reported: true },
      { status: "killed", startedAt: grandchild?.startedAt },
    ]);
  await expect.poll(() => reports("fir child"), PATIENCE).toEqual([expect.stringContaining('"fir child" just completed successfully.\n\nResult:\nstarted')]);
});

test("a child that runs goes on with a message, and one that ended says so", async () => {
  const session = "agent:main:steered-by-method";
  await grow(session, "ash");
  const [, grandchild] = await treeOf(session);
  const asked = { sessionKey: grandchild?.sessionKey, message: "say w-leaf" };
  const done = await call<{ steered: boolean; runId: string }>("subagents.steer", { ...asked, idempotencyKey: "steer-ash" });
  expect(done.steered).toBe(true);
  expect(done.runId).not.toBe(grandchild?.runId);
  await expect.poll(async () => (await treeOf(session))[1]?.status, PATIENCE).toBe("done");
  expect(await call("subagents.steer", asked)).toEqual({ ok: true, steered: false, runId: done.runId });
});

test("a sub-agent that is not there is refused with what to do", async () => {
  for (const method of ["subagents.kill", "subagents.steer"]) {
    const message = method === "subagents.steer" ? { message: "go on" } : {};
    const { ok, error } = await gateway.operator.request(method, { sessionKey: "agent:main:subagent:nobody", ...message });
    expect(ok).toBe(false);
    expect(error?.message).toContain('there is no sub-agent with the session "agent:main:subagent:nobody"');
  }
});

test("a gateway that is killed while it stops a sub-agent has stopped it, and reports nothing", async () => {
  const session = "agent:main:killed-halfway";
  await gateway.stop();
  await gateway.start({ OPENCLAW_FAILPOINT: "subagent.killed" });
  await grow(session, "yew");
  const [child] = await treeOf(session);
  void gateway.operator.request("subagents.kill", { sessionKey: child?.sessionKey }).catch(() => {});
  expect(await gateway.ended()).toMatchObject({ signal: "SIGKILL" });
  await gateway.start();
  const killed = { status: "killed", reported: true };
  await expect.poll(() => treeOf(session), PATIENCE).toMatchObject([killed, killed]);
  gateway.model.holds(undefined);
  await gateway.aside();
  expect(reports("yew child")).toEqual([]);
});

test("a gateway that is killed while it steers a sub-agent goes on with the message, once", async () => {
  const session = "agent:main:steered-halfway";
  await gateway.stop();
  await gateway.start({ OPENCLAW_FAILPOINT: "subagent.steered" });
  await grow(session, "box");
  const [, grandchild] = await treeOf(session);
  const steering = { sessionKey: grandchild?.sessionKey, message: "say w-leafless", idempotencyKey: "steer-box" };
  void gateway.operator.request("subagents.steer", steering).catch(() => {});
  expect(await gateway.ended()).toMatchObject({ signal: "SIGKILL" });
  await gateway.start();
  await expect.poll(async () => (await treeOf(session)).map(({ status }) => status), PATIENCE).toEqual(["done", "done"]);
  // The message is in the conversation once, also when the request is made again.
  await gateway.operator.request("subagents.steer", steering);
  const { messages } = await call<{ messages: readonly { role: string; content: unknown }[] }>("chat.history", { sessionKey: grandchild?.sessionKey });
  expect(messages.filter(({ role, content }) => role === "user" && JSON.stringify(content).includes("w-leafless"))).toHaveLength(1);
  await expect.poll(() => reports("box child").length, PATIENCE).toBe(1);
});
