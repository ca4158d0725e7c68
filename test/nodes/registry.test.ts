import { afterAll, beforeAll, expect, test } from "vitest";
import { createDevice } from "../harness/auth.ts";
import { enter, visit, type DeviceClient } from "../harness/device-client.ts";
import type { MethodName } from "../../src/protocol/index.ts";
import { start, TOKEN, type Started } from "../security/start.ts";
import { askedFor, connectNode, connectOperator } from "./lab.ts";

let gateway: Started;
let operator: DeviceClient;
beforeAll(async () => {
  gateway = await start({
    gateway: { nodes: { allowCommands: ["camera.snap"], denyCommands: ["system.notify"] }, auth: { token: TOKEN, rateLimit: { maxAttempts: 10_000 } } },
  });
  operator = await connectOperator(gateway);
});
afterAll(async () => {
  await operator[Symbol.asyncDispose]();
  await gateway[Symbol.asyncDispose]();
});

type Entry = Readonly<Record<string, unknown>> & { readonly nodeId: string };
const nodesNow = async (): Promise<readonly Entry[]> => (await operator.ask("node.list", {})).payload!["nodes"] as readonly Entry[];
const entryOf = async (nodeId: string): Promise<Entry | undefined> => (await nodesNow()).find((entry) => entry.nodeId === nodeId);

test("a node that connects is listed under its device id with what it declared and what is allowed there", async () => {
  const commands = ["system.run", "system.which", "system.notify", "camera.snap", "sms.send", "canvas.present"];
  await using node = await connectNode(gateway, { commands, displayName: "Attic\u202e", caps: ["system", "browser"], pathEnv: "/usr/bin" });
  expect(await entryOf(node.nodeId)).toMatchObject({
    nodeId: node.nodeId,
    displayName: "Attic",
    platform: "linux",
    version: "1.2.3",
    caps: ["browser", "system"],
    commands: ["camera.snap", "system.run", "system.which"],
    pathEnv: "/usr/bin",
    connectedAtMs: expect.any(Number),
    paired: true,
    connected: true,
  });
  expect((await operator.ask("node.describe", { nodeId: node.nodeId })).payload).toMatchObject({
    ts: expect.any(Number),
    nodeId: node.nodeId,
    connected: true,
  });
});

test.each([
  ["macOS 15.1", ["canvas.eval", "system.run"]],
  ["ios", ["canvas.eval", "location.get"]],
  ["android", ["canvas.eval", "location.get"]],
  ["win32", ["browser.proxy", "system.run"]],
  ["toaster", ["canvas.eval", "location.get", "system.run"]],
])("on %s a node may be asked for the commands of its platform", async (platform, expected) => {
  const commands = ["system.run", "system.notify", "canvas.eval", "location.get", "browser.proxy", "contacts.add", "sms.send"];
  await using node = await connectNode(gateway, { platform, commands });
  const { commands: allowed } = (await entryOf(node.nodeId))!;
  expect(allowed).toEqual(expect.arrayContaining(expected));
  for (const never of ["contacts.add", "sms.send", "system.notify"]) expect(allowed).not.toContain(never);
});

test("what a node offers and the configuration refuses is listed with the list that does it, once the node is asked about", async () => {
  const commands = ["system.run", "system.notify", "sms.send", "camera.snap", "system.execApprovals.get"];
  await using node = await connectNode(gateway, { commands });
  const described = (await operator.ask("node.describe", { nodeId: node.nodeId })).payload!;
  expect(described).toMatchObject({ commands: ["camera.snap", "system.run"] });
  expect(described["refused"]).toEqual([
    { command: "sms.send", why: "not-allowed" },
    { command: "system.notify", why: "denied" },
  ]);
});

test("the last commands of a node are listed without what was sent and answered", async () => {
  await using node = await connectNode(gateway);
  const { nodeId } = node;
  expect((await operator.ask("node.invokes", { nodeId })).payload).toEqual({ invokes: [] });
  const asked = operator.ask("node.invoke", { nodeId, command: "system.which", params: { bins: ["git"] }, idempotencyKey: "recent-1" });
  const { id } = await askedFor(node, "recent-1");
  const running = (await operator.ask("node.invokes", { nodeId })).payload!["invokes"];
  expect(running).toMatchObject([{ command: "system.which", outcome: "running" }]);
  await node.ask("node.invoke.result", { id, nodeId, ok: true, payload: { bins: {} } });
  await asked;
  await operator.request("node.invoke", { nodeId, command: "sms.send", idempotencyKey: "recent-2" });
  const invokes = (await operator.ask("node.invokes", { nodeId })).payload!["invokes"];
  expect(invokes).toEqual([
    { command: "sms.send", startedAtMs: expect.any(Number), outcome: "failed", durationMs: expect.any(Number), message: "node command not allowed" },
    { command: "system.which", startedAtMs: expect.any(Number), outcome: "done", durationMs: expect.any(Number) },
  ]);
});

test("a node that was announced and approved is removed with its token", async () => {
  await operator.ask("node.pair.request", { nodeId: "announced", displayName: "Announced" });
  const { pending } = (await operator.ask("node.pair.list", {})).payload as { pending: readonly { requestId: string; nodeId: string }[] };
  const { requestId } = pending.find(({ nodeId }) => nodeId === "announced")!;
  const { node } = (await operator.ask("node.pair.approve", { requestId })).payload as { node: { token: string } };
  expect(await entryOf("announced")).toMatchObject({ displayName: "Announced", connected: false });
  expect((await operator.ask("node.pair.remove", { nodeId: "announced" })).payload).toEqual({ nodeId: "announced" });
  expect(await entryOf("announced")).toBeUndefined();
  expect((await operator.ask("node.pair.verify", { nodeId: "announced", token: node.token })).payload).toEqual({ ok: false });
  expect((await operator.request("node.pair.remove", { nodeId: "announced" })).error?.message).toBe("unknown nodeId");
});

test("a node that left stays listed as paired, and an unknown one is an error", async () => {
  const node = await connectNode(gateway, { displayName: "Shed" });
  await node[Symbol.asyncDispose]();
  await expect.poll(() => entryOf(node.nodeId)).toMatchObject({ displayName: "Shed", connected: false, paired: true, commands: [] });
  expect((await operator.request("node.describe", { nodeId: "nobody" })).error).toMatchObject({ code: "INVALID_REQUEST", message: "unknown nodeId" });
});

test("a second connection of a node replaces the first, which is closed with the reason", async () => {
  const device = createDevice();
  await using first = await connectNode(gateway, { device, displayName: "Old" });
  await using second = await connectNode(gateway, { device, displayName: "New" });
  expect(await first.closed).toEqual({ code: 1008, reason: "replaced: this node connected again" });
  expect((await nodesNow()).filter(({ nodeId }) => nodeId === device.id)).toMatchObject([{ displayName: "New", connected: true }]);
  expect((await second.ask("node.event", { event: "chat.subscribe", payload: { sessionKey: "main" } })).ok).toBe(true);
});

test("a paired node can be renamed, and keeps the name when it connects again", async () => {
  const device = createDevice();
  await using node = await connectNode(gateway, { device, displayName: "Before" });
  const renamed = await operator.ask("node.rename", { nodeId: node.nodeId, displayName: "Kitchen" });
  expect(renamed.payload).toEqual({ nodeId: device.id, displayName: "Kitchen" });
  await using again = await connectNode(gateway, { device, displayName: "Before" });
  expect(await entryOf(again.nodeId)).toMatchObject({ displayName: "Kitchen", connected: true });
  expect((await operator.request("node.rename", { nodeId: "nobody", displayName: "x" })).error?.message).toBe("unknown nodeId");
  expect((await operator.request("node.rename", { nodeId: node.nodeId, displayName: "x".repeat(101) })).error?.message).toContain("the limit is 100");
  await using other = await connectNode(gateway);
  expect((await operator.request("node.rename", { nodeId: other.nodeId, displayName: "Kitchen" })).error?.message).toContain("has this name");
});

test("a node is present while it is connected", async () => {
  await using node = await connectNode(gateway, { displayName: "Present" });
  const presence = (await operator.ask("system-presence", {})).payload as unknown as readonly Readonly<Record<string, unknown>>[];
  expect(presence).toContainEqual(expect.objectContaining({ deviceId: node.nodeId, host: "Present", mode: "node", roles: ["node"] }));
});

test("a node from another machine waits until it is approved as a node", async () => {
  const device = createDevice();
  const client = { id: "node-host", mode: "node", version: "1", platform: "linux" } as const;
  const how = { device, token: TOKEN, role: "node", scopes: [], from: "203.0.113.9", params: { client, commands: ["system.run"] } };
  await using refused = await visit(gateway.url, how);
  expect(refused.answer.error).toMatchObject({ code: "NOT_PAIRED", message: "pairing required" });
  expect(await entryOf(device.id)).toBeUndefined();
  const { requestId } = refused.answer.error!.details as { requestId: string };
  expect((await operator.ask("device.pair.approve", { requestId })).ok).toBe(true);
  await using node = await enter(gateway.url, how);
  expect(node.answer.payload!["auth"]).toMatchObject({ role: "node" });
  expect(await entryOf(device.id)).toMatchObject({ connected: true, paired: true });
});

test("a node that is removed from the devices is disconnected and forgotten", async () => {
  await using node = await connectNode(gateway);
  await operator.ask("device.pair.remove", { deviceId: node.nodeId });
  expect(await node.closed).toMatchObject({ code: 1008 });
  await expect.poll(() => entryOf(node.nodeId)).toBeUndefined();
});

test("the frames of the published command line list nodes and run a command on the published node host", async () => {
  const client = { id: "cli", mode: "cli", version: "2026.2.19", platform: "linux" } as const;
  const scopes = ["operator.admin", "operator.approvals", "operator.pairing"];
  const device = createDevice();
  /** One connection for each method, as it does. */
  const once = async (method: MethodName, params: object) => {
    await using caller = await enter(gateway.url, { device, token: TOKEN, scopes, params: { client } });
    return (await caller.ask(method, params)).payload!;
  };
  await using node = await connectNode(gateway, { displayName: "Published", commands: ["system.run", "system.which"], pathEnv: "/usr/bin:/bin" });
  const { nodeId } = node;
  expect((await node.ask("skills.bins", {})).payload).toEqual({ bins: expect.any(Array) });
  const { ts, nodes } = (await once("node.list", {})) as { ts: number; nodes: readonly Record<string, unknown>[] };
  expect(ts).toEqual(expect.any(Number));
  expect(nodes.find((one) => one["nodeId"] === nodeId)).toEqual({
    nodeId,
    displayName: "Published",
    platform: "linux",
    version: "1.2.3",
    caps: ["system"],
    commands: ["system.run", "system.which"],
    pathEnv: "/usr/bin:/bin",
    connectedAtMs: expect.any(Number),
    paired: true,
    connected: true,
  });
  expect(await once("node.pair.list", {})).toEqual({ pending: expect.any(Array), paired: expect.any(Array) });
  const params = { bins: ["git"] };
  const invoked = once("node.invoke", { nodeId, command: "system.which", params, timeoutMs: 15_000, idempotencyKey: "published-1" });
  const frame = await node.next(({ event }) => event === "node.invoke.request");
  const { id } = frame.payload as { id: string };
  expect(frame).toEqual({
    type: "event",
    event: "node.invoke.request",
    payload: { id, nodeId, command: "system.which", paramsJSON: JSON.stringify(params), timeoutMs: 15_000, idempotencyKey: "published-1" },
  });
  const payloadJSON = JSON.stringify({ bins: { git: "/usr/bin/git" } });
  expect((await node.ask("node.invoke.result", { id, nodeId, ok: true, payloadJSON })).payload).toEqual({ ok: true });
  expect(await invoked).toEqual({ ok: true, nodeId, command: "system.which", payload: { bins: { git: "/usr/bin/git" } }, payloadJSON });
});

test("the frames of the published command line ask about a command and run what was allowed, each on a connection of its own", async () => {
  const client = { id: "cli", mode: "cli", version: "2026.2.19", platform: "linux" } as const;
  const device = createDevice();
  const once = async (method: MethodName, params: object) => {
    await using caller = await enter(gateway.url, {
      device,
      token: TOKEN,
      scopes: ["operator.admin", "operator.approvals", "operator.pairing"],
      params: { client },
    });
    return (await caller.ask(method, params)).payload!;
  };
  await using node = await connectNode(gateway, { displayName: "Published", commands: ["system.run", "system.execApprovals.get"] });
  const { nodeId } = node;
  const answer = async (command: string, payload: object) => {
    const frame = await node.next((one) => one.event === "node.invoke.request" && one.payload!["command"] === command);
    const { id, paramsJSON } = frame.payload as { id: string; paramsJSON: string };
    await node.ask("node.invoke.result", { id, nodeId, ok: true, payloadJSON: JSON.stringify(payload) });
    return JSON.parse(paramsJSON) as object;
  };
  const rules = { path: "/x", exists: true, hash: "h", file: { version: 1 } };
  const [got] = await Promise.all([once("exec.approvals.node.get", { nodeId }), answer("system.execApprovals.get", rules)]);
  expect(got).toMatchObject({ file: { version: 1 } });
  const id = crypto.randomUUID();
  const question = { id, command: "echo hello", host: "node", security: "allowlist", ask: "on-miss", agentId: "main", timeoutMs: 120_000 };
  const decided = once("exec.approval.request", question);
  await operator.next(({ event, payload }) => event === "exec.approval.requested" && payload!["id"] === id);
  await operator.ask("exec.approval.resolve", { id, decision: "allow-once" });
  expect(await decided).toMatchObject({ id, decision: "allow-once" });
  const params = { command: ["echo", "hello"], needsScreenRecording: false, agentId: "main", approved: true, approvalDecision: "allow-once", runId: id };
  const ran = { exitCode: 0, timedOut: false, success: true, stdout: "hello\n", stderr: "", error: null };
  const invoked = once("node.invoke", { nodeId, command: "system.run", params, idempotencyKey: crypto.randomUUID(), timeoutMs: 30_000 });
  expect(await answer("system.run", ran)).toEqual(params);
  expect((await invoked)["payload"]).toEqual(ran);
});
