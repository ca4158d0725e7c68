import { afterAll, beforeAll, expect, test } from "vitest";
import { createDevice } from "../harness/auth.ts";
import { enter, type DeviceClient } from "../harness/device-client.ts";
import { configText, start, TOKEN, type Started } from "../security/start.ts";
import { askedFor, connectNode, connectOperator, requests } from "./lab.ts";

let gateway: Started;
let operator: DeviceClient;
beforeAll(async () => {
  gateway = await start({ gateway: { nodes: { denyCommands: [] } } });
  operator = await connectOperator(gateway);
});
afterAll(async () => {
  await operator[Symbol.asyncDispose]();
  await gateway[Symbol.asyncDispose]();
});

let count = 0;
const newKey = (): string => `key-${(count += 1)}`;
type Node = Awaited<ReturnType<typeof connectNode>>;

const which = (node: Node, key: string, over: object = {}) => ({
  nodeId: node.nodeId,
  command: "system.which",
  params: { bins: ["ls"] },
  idempotencyKey: key,
  ...over,
});
const answer = (node: Node, id: string, over: object = {}) =>
  node.request("node.invoke.result", { id, nodeId: node.nodeId, ok: true, payloadJSON: '{"a":1}', ...over });

test("a command reaches the node with its parameters, and the answer reaches the caller", async () => {
  await using node = await connectNode(gateway);
  const key = newKey();
  const invoked = operator.ask("node.invoke", which(node, key, { timeoutMs: 5000 }));
  const asked = await askedFor(node, key);
  expect(asked).toEqual({
    id: expect.any(String),
    nodeId: node.nodeId,
    command: "system.which",
    paramsJSON: '{"bins":["ls"]}',
    timeoutMs: 5000,
    idempotencyKey: key,
  });
  expect((await answer(node, asked.id)).payload).toEqual({ ok: true });
  expect((await invoked).payload).toEqual({ ok: true, nodeId: node.nodeId, command: "system.which", payload: { a: 1 }, payloadJSON: '{"a":1}' });
});

test("a key is executed once: repeats get the same outcome, while it runs and afterwards", async () => {
  await using node = await connectNode(gateway);
  const key = newKey();
  const both = [operator.ask("node.invoke", which(node, key)), operator.ask("node.invoke", which(node, key))];
  await answer(node, (await askedFor(node, key)).id);
  const [first, second] = await Promise.all(both);
  const third = await operator.ask("node.invoke", which(node, key));
  expect([second!.payload, third.payload]).toEqual([first!.payload, first!.payload]);
  expect(requests(node)).toHaveLength(1);
  const other = await operator.request("node.invoke", which(node, key, { params: { bins: ["rm"] } }));
  expect(other.error).toMatchObject({ code: "INVALID_REQUEST", message: expect.stringContaining("was already used for another node.invoke") });
  await node[Symbol.asyncDispose]();
  expect((await operator.ask("node.invoke", which(node, key))).payload).toEqual(first!.payload);
});

test("what a node may not be asked for is refused with the reason", async () => {
  await using node = await connectNode(gateway, { commands: ["system.which", "sms.send"] });
  await using silent = await connectNode(gateway, { commands: [] });
  const tried = async (nodeId: string, command: string) => (await operator.request("node.invoke", { nodeId, command, idempotencyKey: newKey() })).error;
  expect(await tried("nobody", "system.which")).toEqual({ code: "UNAVAILABLE", message: "node not connected", details: { code: "NOT_CONNECTED" } });
  const refused = (command: string, reason: string) => ({ code: "INVALID_REQUEST", message: "node command not allowed", details: { command, reason } });
  expect(await tried(node.nodeId, "sms.send")).toEqual(refused("sms.send", "command not allowlisted"));
  expect(await tried(node.nodeId, "__proto__")).toEqual(refused("__proto__", "command not allowlisted"));
  expect(await tried(node.nodeId, "system.notify")).toEqual(refused("system.notify", "command not declared by node"));
  expect(await tried(silent.nodeId, "system.which")).toEqual(refused("system.which", "node did not declare commands"));
  expect(await tried(node.nodeId, "system.execApprovals.set")).toMatchObject({
    code: "INVALID_REQUEST",
    message: expect.stringContaining("exec.approvals.node.set"),
  });
  expect([...requests(node), ...requests(silent)]).toEqual([]);
});

test("a denied command ends with the configuration, without a new connection", async () => {
  await using node = await connectNode(gateway, { commands: ["system.notify"] });
  gateway.place.configure(configText({ gateway: { nodes: { denyCommands: ["system.notify"] } } }));
  const listed = async () => ((await operator.ask("node.describe", { nodeId: node.nodeId })).payload as { commands: string[] }).commands;
  await expect.poll(listed).toEqual([]);
  const { error } = await operator.request("node.invoke", { nodeId: node.nodeId, command: "system.notify", idempotencyKey: newKey() });
  expect(error?.details).toEqual({ command: "system.notify", reason: "command not allowlisted" });
  gateway.place.configure(configText({ gateway: { nodes: { denyCommands: [] } } }));
  await expect.poll(listed).toEqual(["system.notify"]);
});

test("a failure of the node is the caller's, with the node's code", async () => {
  await using node = await connectNode(gateway);
  const key = newKey();
  const invoked = operator.request("node.invoke", which(node, key));
  await answer(node, (await askedFor(node, key)).id, { ok: false, payloadJSON: undefined, error: { code: "CAMERA_DISABLED", message: "no camera" } });
  expect((await invoked).error).toEqual({
    code: "UNAVAILABLE",
    message: "no camera",
    details: { nodeError: { code: "CAMERA_DISABLED", message: "no camera" } },
  });
});

test("a node that is silent is given up and notified; its late answer is ignored", async () => {
  await using node = await connectNode(gateway);
  const key = newKey();
  const { error } = await operator.request("node.invoke", which(node, key, { timeoutMs: 20 }));
  expect(error).toMatchObject({ code: "UNAVAILABLE", message: "node invoke timed out", details: { nodeError: { code: "TIMEOUT" } } });
  const { id } = await askedFor(node, key);
  expect((await node.event("node.invoke.cancel")).payload).toEqual({ id, nodeId: node.nodeId, reason: "timeout" });
  expect((await answer(node, id)).payload).toEqual({ ok: true, ignored: true });
  expect((await operator.request("node.invoke", which(node, key, { timeoutMs: 20 }))).error).toEqual(error);
  expect(requests(node)).toHaveLength(1);
});

test("a node that dies in an invoke gives one outcome, and is not asked again under the key", async () => {
  const device = createDevice();
  const key = newKey();
  const node = await connectNode(gateway, { device });
  const invoked = operator.request("node.invoke", which(node, key));
  await askedFor(node, key);
  node.ws.terminate();
  const { error } = await invoked;
  expect(error).toMatchObject({ code: "UNAVAILABLE", message: "Error: node disconnected (system.which)" });
  await using again = await connectNode(gateway, { device });
  expect((await operator.request("node.invoke", which(again, key))).error).toEqual(error);
  expect(requests(again)).toEqual([]);
});

test("a node cannot answer for another one, nor for its own older connection", async () => {
  const device = createDevice();
  await using node = await connectNode(gateway, { device });
  await using thief = await connectNode(gateway);
  const key = newKey();
  const invoked = operator.request("node.invoke", which(node, key));
  const { id } = await askedFor(node, key);
  expect((await thief.request("node.invoke.result", { id, nodeId: node.nodeId, ok: true })).error).toMatchObject({
    code: "INVALID_REQUEST",
    message: "nodeId mismatch",
  });
  expect((await thief.request("node.invoke.result", { id, nodeId: thief.nodeId, ok: true })).payload).toEqual({ ok: true, ignored: true });
  await using newer = await connectNode(gateway, { device });
  expect((await invoked).error?.message).toBe("Error: node disconnected (system.which)");
  expect((await answer(newer, id)).payload).toEqual({ ok: true, ignored: true });
});

test("a caller that goes away cancels its command, unless another one waits for the same key", async () => {
  await using node = await connectNode(gateway);
  const [alone, shared] = [newKey(), newKey()];
  const leaving = await connectOperator(gateway);
  const sent = [alone, shared].map((key) => leaving.request("node.invoke", which(node, key)).catch(() => undefined));
  const [left, kept] = [await askedFor(node, alone), await askedFor(node, shared)];
  const staying = operator.ask("node.invoke", which(node, shared));
  await operator.ask("node.list", {});
  await leaving[Symbol.asyncDispose]();
  await Promise.all(sent);
  expect((await node.event("node.invoke.cancel")).payload).toEqual({ id: left.id, nodeId: node.nodeId, reason: "caller-gone" });
  expect((await answer(node, kept.id)).payload).toEqual({ ok: true });
  expect((await staying).ok).toBe(true);
  expect(node.frames.filter(({ event }) => event === "node.invoke.cancel")).toHaveLength(1);
  expect((await operator.request("node.invoke", which(node, alone))).error?.details).toMatchObject({ code: "CANCELLED" });
});

test("too many open commands on one node are refused before they are sent", async () => {
  await using node = await connectNode(gateway);
  const caller = await connectOperator(gateway);
  const keys = Array.from({ length: 64 }, newKey);
  const open = keys.map((key) => caller.request("node.invoke", which(node, key)).catch(() => undefined));
  await Promise.all(keys.map((key) => askedFor(node, key)));
  const { error } = await operator.request("node.invoke", which(node, newKey()));
  expect(error).toMatchObject({ code: "UNAVAILABLE", retryable: true, message: expect.stringContaining("too many commands are open on this node") });
  await caller[Symbol.asyncDispose]();
  await Promise.all(open);
  expect(requests(node)).toHaveLength(64);
});

test("too many commands at once on one node are refused as well", async () => {
  await using node = await connectNode(gateway);
  const answers = Array.from({ length: 80 }, () => operator.request("node.invoke", which(node, newKey(), { timeoutMs: 60_000 })));
  const refused = await Promise.all(answers.slice(64));
  for (const { error } of refused) expect(error?.message).toContain("too many commands are open on this node");
  await expect.poll(() => requests(node).length).toBe(64);
  await node[Symbol.asyncDispose]();
  const ended = await Promise.all(answers.slice(0, 64));
  for (const { error } of ended) expect(error?.message).toContain("node disconnected");
  await using again = await connectNode(gateway);
  const key = newKey();
  const invoked = operator.ask("node.invoke", which(again, key));
  await answer(again, (await askedFor(again, key)).id);
  expect((await invoked).ok).toBe(true);
});

test("garbage instead of an answer is an error, and the invoke goes on", async () => {
  await using node = await connectNode(gateway);
  const key = newKey();
  const invoked = operator.ask("node.invoke", which(node, key));
  const { id } = await askedFor(node, key);
  for (const params of [{}, { id, nodeId: node.nodeId }, { id, nodeId: node.nodeId, ok: "yes" }, { id, nodeId: node.nodeId, ok: true, extra: 1 }, [id], null]) {
    expect((await node.request("node.invoke.result", params)).error).toMatchObject({
      code: "INVALID_REQUEST",
      message: expect.stringContaining("invalid node.invoke.result params"),
    });
  }
  await answer(node, id, { payloadJSON: "{no json" });
  expect((await invoked).payload).toEqual({ ok: true, nodeId: node.nodeId, command: "system.which", payloadJSON: "{no json" });
});

test("a gateway that is killed in an invoke never sends it again; the key has one outcome", async () => {
  await using killed = await start({}, { build: "dist-test", env: { OPENCLAW_FAILPOINT: "node.invoke.answered" } });
  const device = createDevice();
  const key = newKey();
  const node = await connectNode(killed, { device });
  const caller = await connectOperator(killed);
  const invoked = caller.request("node.invoke", which(node, key)).catch(() => "cut off");
  await answer(node, (await askedFor(node, key)).id).catch(() => undefined);
  expect(await invoked).toBe("cut off");
  await killed.process.exited;
  await using next = await killed.place.gateway();
  const again = { url: next.url! };
  await using back = await connectNode(again, { device });
  await using asking = await enter(again.url, { token: TOKEN, scopes: ["operator.admin"] });
  const outcomes = [await asking.request("node.invoke", which(back, key)), await asking.request("node.invoke", which(back, key))];
  expect(outcomes[0]!.error).toMatchObject({ code: "UNAVAILABLE", details: { code: "OUTCOME_UNKNOWN", outcome: "unknown" } });
  expect(outcomes[1]!.error).toEqual(outcomes[0]!.error);
  expect(requests(back)).toEqual([]);
});
