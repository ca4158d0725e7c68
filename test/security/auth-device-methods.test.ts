import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createAuthBench, createDevice, remote, type AuthBench } from "../harness/auth.ts";
import { loadAnswerChecks, type MethodName, type MethodParams, type MethodResult } from "../../src/protocol/index.ts";
import { isRevoked } from "../../src/gateway/auth/index.ts";
import { devicesHandlers } from "../../src/gateway/methods/devices.ts";
import { nodesHandlers } from "../../src/gateway/methods/nodes.ts";
import type { CallContext, Handlers } from "../../src/gateway/methods/handler.ts";

let bench: AuthBench;
let handlers: Handlers;
let events: [string, unknown][];

beforeAll(async () => {
  bench = await createAuthBench();
  events = [];
  const devices = devicesHandlers({ auth: bench.auth, broadcast: (event, payload) => void events.push([event, payload]) });
  handlers = { ...devices, ...nodesHandlers({ auth: bench.auth, clock: bench.clock, send: () => false }) };
});
beforeEach(async () => {
  await bench.clear();
  events.length = 0;
});
afterAll(() => bench[Symbol.asyncDispose]());

const context = (scopes: readonly string[] = ["operator.admin"], connId = "conn"): CallContext => ({
  caller: {
    connId,
    role: "operator",
    scopes: new Set(scopes),
    client: { id: "cli", mode: "cli", version: "1", platform: "linux" },
    caps: new Set(),
    local: true,
  },
  signal: new AbortController().signal,
  accepted: () => {},
});

async function call<M extends MethodName>(method: M, params: MethodParams<M>, from = context()): Promise<MethodResult<M>> {
  const handler = handlers[method];
  const result = await handler!(params, from);
  expect((await loadAnswerChecks()).result(method, result)).toBeUndefined();
  return result;
}

async function ask(scopes: readonly string[] = ["operator.read"]) {
  const device = createDevice();
  const refused = await bench.connect(device, { scopes: [...scopes] }, remote());
  return { device, requestId: String(refused.ok ? "" : refused.details?.["requestId"]) };
}

test("a device that waits is listed, announced, approved and listed again, without its token", async () => {
  const { device, requestId } = await ask();
  expect(await call("device.pair.list", {})).toMatchObject({ pending: [{ requestId, deviceId: device.id }], paired: [] });
  expect(await call("device.pair.approve", { requestId })).toMatchObject({ requestId, device: { deviceId: device.id, scopes: ["operator.read"] } });
  expect(events.map(([event]) => event)).toEqual(["device.pair.requested", "device.pair.resolved"]);
  const { pending, paired } = await call("device.pair.list", {});
  expect([pending, paired]).toMatchObject([[], [{ deviceId: device.id, tokens: [{ role: "operator" }] }]]);
  const [stored] = await bench.store.read("devices.tokens", { deviceId: device.id });
  expect(JSON.stringify([paired, events])).not.toContain(stored!.token);
});

test("a device that waits can be turned away", async () => {
  const { device, requestId } = await ask();
  expect(await call("device.pair.reject", { requestId })).toEqual({ requestId, deviceId: device.id });
  expect(events.at(-1)).toMatchObject(["device.pair.resolved", { requestId, decision: "rejected" }]);
  await expect(call("device.pair.approve", { requestId })).rejects.toMatchObject({ code: "INVALID_INPUT", message: "unknown requestId" });
});

test("a caller who may only pair cannot give away more than that", async () => {
  const { requestId } = await ask(["operator.write"]);
  await expect(call("device.pair.approve", { requestId }, context(["operator.pairing"]))).rejects.toThrow("missing scope: operator.write");
});

test("rotating and revoking close the sockets that used the token, the caller's own after its answer", async () => {
  const { device, requestId } = await ask();
  await call("device.pair.approve", { requestId });
  const closed = (connId: string): boolean =>
    bench.revocations.some((revocation) => isRevoked(revocation, { connId, deviceId: device.id, role: "operator", method: "device-token" }));
  const rotated = await call("device.token.rotate", { deviceId: device.id, role: "operator" }, context(["operator.admin"], "mine"));
  expect(rotated.token).toMatch(/^[\w-]{43}$/);
  expect([closed("other"), closed("mine")]).toEqual([true, false]);
  bench.clock.advance(999);
  expect(closed("mine")).toBe(true);
  bench.revocations.length = 0;
  await call("device.token.revoke", { deviceId: device.id, role: "operator" });
  expect(closed("other")).toBe(true);
});

test("a removed device is gone, without an event, and its sockets are closed", async () => {
  const { device, requestId } = await ask();
  await call("device.pair.approve", { requestId });
  events.length = 0;
  expect(await call("device.pair.remove", { deviceId: device.id })).toEqual({ deviceId: device.id });
  expect(events).toEqual([]);
  expect(bench.revocations.some((revocation) => isRevoked(revocation, { deviceId: device.id, role: "operator", method: "token" }))).toBe(true);
  await expect(call("device.pair.remove", { deviceId: device.id })).rejects.toThrow("unknown deviceId");
});

test("a node asks once, is approved, and its token verifies", async () => {
  const nodeId = "node-one";
  const first = await call("node.pair.request", { nodeId, displayName: "Kitchen", caps: ["camera"], idempotencyKey: "k" });
  expect(first).toMatchObject({ status: "pending", created: true, request: { nodeId, displayName: "Kitchen", isRepair: false } });
  expect(await call("node.pair.request", { nodeId, displayName: "Hall" })).toMatchObject({ created: false, request: first.request });
  const { requestId } = first.request;
  const approvals = await Promise.allSettled(Array.from({ length: 20 }, () => call("node.pair.approve", { requestId })));
  expect(approvals.filter((result) => result.status === "fulfilled")).toHaveLength(1);
  const paired = (await call("node.pair.list", {})).paired.filter((node) => node.nodeId === nodeId);
  expect(paired).toMatchObject([{ nodeId, displayName: "Kitchen", token: expect.stringMatching(/^[\w-]{43}$/) }]);
  expect(await call("node.pair.verify", { nodeId, token: paired[0]!.token })).toMatchObject({ ok: true, node: { nodeId } });
  expect(await call("node.pair.verify", { nodeId, token: "guess" })).toEqual({ ok: false });
  expect(await call("node.pair.verify", { nodeId: "nobody", token: "guess" })).toEqual({ ok: false });
  expect(events.map(([event]) => event)).toEqual(["node.pair.requested", "node.pair.resolved"]);
});

test("paired nodes and devices do not mix", async () => {
  const { request } = await call("node.pair.request", { nodeId: "node-two" });
  await call("node.pair.approve", { requestId: request.requestId });
  expect((await call("device.pair.list", {})).paired).toEqual([]);
  await expect(call("device.pair.remove", { deviceId: "node:node-two" })).rejects.toThrow("unknown deviceId");
  await expect(call("device.token.revoke", { deviceId: "node:node-two", role: "node" })).rejects.toThrow("unknown deviceId/role");
  await expect(call("device.token.rotate", { deviceId: "node:node-two", role: "node" })).rejects.toThrow("unknown deviceId/role");
  const { requestId } = await ask();
  await expect(call("node.pair.approve", { requestId })).rejects.toThrow("unknown requestId");
});

test("a paired node can be renamed, turned away when it asks again, and asks again as a repair", async () => {
  const { request } = await call("node.pair.request", { nodeId: "node-three", displayName: "Before" });
  await call("node.pair.approve", { requestId: request.requestId });
  expect(await call("node.rename", { nodeId: "node-three", displayName: "After" })).toEqual({ nodeId: "node-three", displayName: "After" });
  expect((await call("node.pair.list", {})).paired.find((node) => node.nodeId === "node-three")).toMatchObject({ displayName: "After" });
  await expect(call("node.rename", { nodeId: "nobody", displayName: "x" })).rejects.toThrow("unknown nodeId");
  const again = await call("node.pair.request", { nodeId: "node-three" });
  expect(again.request.isRepair).toBe(true);
  expect(await call("node.pair.reject", { requestId: again.request.requestId })).toEqual({ requestId: again.request.requestId, nodeId: "node-three" });
});
