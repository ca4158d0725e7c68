import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
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

test("nodes run says that a command on a node that disconnects is of unknown outcome", async () => {
  const node = await connectNode(gateway);
  const ran = gateway.place.start("nodes", "run", "--node", node.nodeId, "--", "uname");
  await node.next(({ event }) => event === "node.invoke.request");
  node.ws.terminate();
  const { code, stderr } = await ran;
  expect(code).toBe(1);
  expect(stderr).toContain("error: node disconnected (system.run): the command may have run and may still be running on that machine");
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

test("an answer that does not fit the protocol ends the command at once with an error that names the node", async () => {
  await using node = await connectNode(gateway, { displayName: "Attic" });
  const { nodeId } = node;
  const garbage = (id: string): readonly unknown[] => [
    {},
    { id, nodeId },
    { id, nodeId, ok: "yes" },
    { id, nodeId, ok: true, extra: 1 },
    [id],
    null,
    { id, nodeId: "other", ok: true },
  ];
  for (const n of garbage("").keys()) {
    const key = newKey();
    const invoked = operator.request("node.invoke", which(node, key));
    const { id } = await askedFor(node, key);
    expect((await node.request("node.invoke.result", garbage(id)[n])).error?.message).toMatch(/invalid node\.invoke\.result params|nodeId mismatch/);
    const { error } = await invoked;
    expect(error).toMatchObject({ code: "UNAVAILABLE", details: { code: "INVALID_ANSWER", outcome: "unknown", nodeId } });
    expect(error?.message).toContain("the node Attic sent a response to system.which that does not match the protocol");
    expect((await operator.request("node.invoke", which(node, key))).error).toEqual(error);
    expect((await answer(node, id)).payload).toEqual({ ok: true, ignored: true });
  }
});

test("garbage without an id ends nothing while several commands are open, and never a command of another node", async () => {
  await using node = await connectNode(gateway);
  await using other = await connectNode(gateway);
  const keys = [newKey(), newKey()];
  const invoked = keys.map((key) => operator.ask("node.invoke", which(node, key)));
  const [first, second] = await Promise.all(keys.map((key) => askedFor(node, key)));
  for (const liar of [node, other]) await liar.request("node.invoke.result", {});
  await other.request("node.invoke.result", { id: first!.id, nodeId: node.nodeId, ok: "yes" });
  await answer(node, first!.id);
  await answer(node, second!.id);
  expect((await invoked[0])!.payload).toMatchObject({ ok: true, nodeId: node.nodeId, command: "system.which" });
  expect((await invoked[1])!.ok).toBe(true);
});

test("a payloadJSON that is no JSON is an answer that does not fit the protocol, of unknown outcome; an empty one is an answer without a payload", async () => {
  await using node = await connectNode(gateway);
  const [wrong, empty] = [newKey(), newKey()];
  const invoked = operator.request("node.invoke", which(node, wrong));
  await answer(node, (await askedFor(node, wrong)).id, { payloadJSON: "{{{" });
  const { error } = await invoked;
  expect(error).toMatchObject({ code: "UNAVAILABLE", details: { code: "INVALID_ANSWER", outcome: "unknown", nodeId: node.nodeId } });
  expect(error?.message).toContain("payloadJSON is not JSON");
  const without = operator.ask("node.invoke", which(node, empty));
  await answer(node, (await askedFor(node, empty)).id, { payloadJSON: "" });
  expect((await without).ok).toBe(true);
});

test("text of a running command reaches the caller that wants it, in order, and no one else", async () => {
  await using node = await connectNode(gateway);
  await using bystander = await connectOperator(gateway);
  await using stranger = await connectNode(gateway);
  const { nodeId } = node;
  const [key, quiet] = [newKey(), newKey()];
  const invoked = operator.ask("node.invoke", which(node, key, { progress: true }));
  const asked = await askedFor(node, key);
  expect(asked).toMatchObject({ progress: true });
  const silent = operator.ask("node.invoke", which(node, quiet));
  const unasked = await askedFor(node, quiet);
  expect(unasked).not.toHaveProperty("progress");
  const progress = async (id: string, seq: number, chunk = `${seq};`) =>
    (await node.request("node.invoke.progress", { invokeId: id, nodeId, seq, chunk })).payload ?? "refused";
  expect(await progress(asked.id, 0)).toEqual({ ok: true });
  expect(await progress(asked.id, 3)).toEqual({ ok: true });
  for (const repeated of [3, 1]) expect(await progress(asked.id, repeated)).toEqual({ ok: true, ignored: true });
  expect(await progress(unasked.id, 0)).toEqual({ ok: true, ignored: true });
  const forged = await stranger.request("node.invoke.progress", { invokeId: asked.id, nodeId, seq: 9, chunk: "forged" });
  expect(forged.error).toMatchObject({ message: "nodeId mismatch" });
  expect(await progress(asked.id, 4, "x".repeat(16_385))).toBe("refused");
  await Promise.all([answer(node, asked.id), answer(node, unasked.id)]);
  await Promise.all([invoked, silent]);
  expect(await progress(asked.id, 5)).toEqual({ ok: true, ignored: true });
  const heard = operator.frames.filter(({ event, payload }) => event === "node.invoke.progress" && payload!["idempotencyKey"] === key);
  expect(heard.map(({ payload }) => payload)).toEqual([0, 3].map((seq) => ({ idempotencyKey: key, nodeId, seq, chunk: `${seq};` })));
  await bystander.ask("node.list", {});
  expect(bystander.frames.some(({ event }) => event === "node.invoke.progress")).toBe(false);
});

test("a caller ends its command, and the node is asked to stop", async () => {
  await using node = await connectNode(gateway);
  const { nodeId } = node;
  const key = newKey();
  const invoked = operator.request("node.invoke", which(node, key));
  const { id } = await askedFor(node, key);
  expect((await operator.ask("node.invoke.cancel", { nodeId: "other", idempotencyKey: key })).payload).toEqual({ ok: true, cancelled: false });
  expect((await operator.ask("node.invoke.cancel", { nodeId, idempotencyKey: key })).payload).toEqual({ ok: true, cancelled: true });
  expect((await invoked).error).toMatchObject({
    message: "the command was cancelled: its caller cancelled it",
    details: { code: "CANCELLED", outcome: "unknown" },
  });
  expect((await node.event("node.invoke.cancel")).payload).toEqual({ id, nodeId, reason: "cancelled" });
  expect((await operator.ask("node.invoke.cancel", { nodeId, idempotencyKey: key })).payload).toEqual({ ok: true, cancelled: false });
});

test("a question goes with the connection that asked it, unless the caller can come back to it", async () => {
  await using watcher = await connectOperator(gateway, ["operator.admin", "operator.approvals"]);
  const leaving = await connectOperator(gateway, ["operator.admin", "operator.approvals"]);
  const asks = [{ command: "ls left" }, { command: "ls kept", id: "kept-question" }];
  for (const params of asks) void leaving.request("exec.approval.request", { ...params, timeoutMs: 60_000 }).catch(() => undefined);
  const asked = (command: string) =>
    watcher.next(({ event, payload }) => event === "exec.approval.requested" && (payload!["request"] as { command?: string }).command === command);
  const { payload } = await asked("ls left");
  await asked("ls kept");
  await leaving[Symbol.asyncDispose]();
  const closed = await watcher.next(({ event, payload: end }) => event === "exec.approval.resolved" && end!["id"] === payload!["id"]);
  expect(closed.payload).toMatchObject({ decision: "deny", resolvedBy: "cancelled" });
  const open = (await watcher.ask("exec.approval.list", {})).payload!["approvals"] as readonly { id: string }[];
  expect(open.map(({ id }) => id)).toEqual(["kept-question"]);
  await watcher.ask("exec.approval.resolve", { id: "kept-question", decision: "deny" });
});

test("a skill is offered while a connected node has its program", async () => {
  const folder = join(gateway.place.stateDir, "skills", "far-away");
  mkdirSync(folder, { recursive: true });
  const metadata = JSON.stringify({ openclaw: { requires: { bins: ["far-away-tool"] } } });
  writeFileSync(join(folder, "SKILL.md"), `---\nname: far-away\ndescription: Does it elsewhere\nmetadata: ${metadata}\n---\nRun far-away-tool.\n`);
  const isOffered = async () => {
    const { payload } = await operator.request("skills.status", {});
    return (payload!["skills"] as readonly { name: string; eligible: boolean }[]).find(({ name }) => name === "far-away")?.eligible;
  };
  expect(await isOffered()).toBe(false);
  {
    await using node = await connectNode(gateway);
    const offered = isOffered();
    const { payload } = await node.next(({ event, payload: asked }) => event === "node.invoke.request" && asked!["command"] === "system.which");
    expect(JSON.parse(payload!["paramsJSON"] as string)).toMatchObject({ bins: expect.arrayContaining(["far-away-tool"]) });
    await answer(node, payload!["id"] as string, { payloadJSON: JSON.stringify({ bins: { "far-away-tool": "/usr/bin/far-away-tool" } }) });
    expect(await offered).toBe(true);
    expect(await isOffered()).toBe(true);
    expect(requests(node)).toHaveLength(1);
  }
  await expect.poll(isOffered).toBe(false);
});

test("a gateway that is killed in an invoke never sends it again; the key has one outcome", async () => {
  await using killed = await start({}, { build: "dist-test", env: { OPENCLAW_FAILPOINT: "node.invoke.answered" } });
  const device = createDevice();
  const key = newKey();
  const node = await connectNode(killed, { device, commands: ["system.notify"] });
  const caller = await connectOperator(killed);
  const notify = (to: Node) => which(to, key, { command: "system.notify", params: { title: "a", body: "b" } });
  const invoked = caller.request("node.invoke", notify(node)).catch(() => "cut off");
  await answer(node, (await askedFor(node, key)).id).catch(() => undefined);
  expect(await invoked).toBe("cut off");
  await killed.process.exited;
  await using next = await killed.place.gateway();
  const again = { url: next.url! };
  await using back = await connectNode(again, { device, commands: ["system.notify"] });
  await using asking = await enter(again.url, { token: TOKEN, scopes: ["operator.admin"] });
  const outcomes = [await asking.request("node.invoke", notify(back)), await asking.request("node.invoke", notify(back))];
  expect(outcomes[0]!.error).toMatchObject({ code: "UNAVAILABLE", details: { code: "OUTCOME_UNKNOWN", outcome: "unknown" } });
  expect(outcomes[1]!.error).toEqual(outcomes[0]!.error);
  expect(requests(back)).toEqual([]);
});

test("a command that only looks and was open in a gateway that is killed can be asked again", async () => {
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
  await using back = await connectNode({ url: next.url! }, { device });
  await using asking = await enter(next.url!, { token: TOKEN, scopes: ["operator.admin"] });
  const asked = asking.ask("node.invoke", which(back, key));
  await answer(back, (await askedFor(back, key)).id);
  expect((await asked).payload).toMatchObject({ payload: { a: 1 } });
  expect((await asking.ask("node.invoke", which(back, key))).payload).toMatchObject({ payload: { a: 1 } });
  expect(requests(back)).toHaveLength(1);
});
