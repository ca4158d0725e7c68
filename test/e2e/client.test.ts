import { createPublicKey, verify, type webcrypto } from "node:crypto";
import { afterEach, beforeEach, expect, test } from "vitest";
import { manualClock, type ManualClock } from "../../src/base/clock.ts";
import { connectNode, loadWebDevice, type ConnectOptions, type DeviceIdentity, type DeviceTokens, type GatewayClient } from "../../src/protocol/client/node.ts";
import { NONCE, startScripted, type ScriptedGateway, type Visitor } from "../harness/scripted-gateway.ts";

let gateway: ScriptedGateway;
let clock: ManualClock;
let open: GatewayClient[];

beforeEach(async () => {
  gateway = await startScripted();
  clock = manualClock();
  open = [];
});
afterEach(async () => {
  for (const client of open) client.close();
  await gateway[Symbol.asyncDispose]();
});

const CLIENT = { id: "test", mode: "test", version: "1.0.0", platform: "linux" } as const;

function begin(over: Partial<ConnectOptions> = {}): Promise<GatewayClient> {
  const connecting = connectNode({ url: gateway.url, client: CLIENT, clock, random: () => 0, ...over }).then((client) => {
    open.push(client);
    return client;
  });
  // A test that expects a refusal awaits it later than it comes.
  connecting.catch(() => {});
  return connecting;
}

async function enter(over: Partial<ConnectOptions> = {}, hello?: Record<string, unknown>): Promise<{ client: GatewayClient; visitor: Visitor }> {
  const connecting = begin(over);
  const visitor = await gateway.visitor();
  await visitor.welcome(hello);
  return { client: await connecting, visitor };
}

function webDevice(): Promise<DeviceIdentity> {
  let kept: webcrypto.CryptoKeyPair | undefined;
  return loadWebDevice({ load: async () => kept, save: async (pair) => void (kept = pair) });
}

function memoryTokens(initial?: string): DeviceTokens & { token: string | undefined } {
  const tokens = {
    token: initial,
    load: () => tokens.token,
    save: (_id: string, grant: { token: string }) => void (tokens.token = grant.token),
    forget: () => void (tokens.token = undefined),
  };
  return tokens;
}

function isSigned(device: Record<string, unknown>, text: string): boolean {
  const key = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x: String(device["publicKey"]) }, format: "jwk" });
  return verify(null, Buffer.from(text), key, Buffer.from(String(device["signature"]), "base64url"));
}

test("the challenge is signed with the device's key over everything that was asked for", async () => {
  const device = await webDevice();
  const connecting = begin({ device, token: "shared", scopes: ["operator.read", "operator.write"] });
  const { params } = await (await gateway.visitor()).welcome();
  await connecting;
  const text = `v2|${device.id}|test|test|operator|operator.read,operator.write|1700000000123|shared|${NONCE}`;
  expect(params["device"]).toMatchObject({ id: device.id, nonce: NONCE, signedAt: 1_700_000_000_123 });
  expect(isSigned(params["device"] as Record<string, unknown>, text)).toBe(true);
  expect(params).toMatchObject({ minProtocol: 3, maxProtocol: 3, role: "operator", auth: { token: "shared" } });
});

test("without a challenge the client connects after 750 ms with a signature without a nonce", async () => {
  await using silent = await startScripted({ challenge: false });
  const device = await webDevice();
  const connecting = begin({ url: silent.url, device, password: "secret" });
  const visitor = await silent.visitor();
  await expect
    .poll(() => {
      clock.advance(50);
      return visitor.asked.length;
    })
    .toBe(1);
  expect(clock.monotonic()).toBeGreaterThanOrEqual(750);
  const { params } = await visitor.welcome();
  await connecting;
  const signed = params["device"] as Record<string, unknown>;
  expect(signed).not.toHaveProperty("nonce");
  const text = `v1|${device.id}|test|test|operator|operator.admin,operator.approvals,operator.pairing|${String(signed["signedAt"])}|`;
  expect(isSigned(signed, text)).toBe(true);
  expect(params["auth"]).toEqual({ password: "secret" });
});

test("a refused connection says what the gateway said", async () => {
  const connecting = begin();
  const visitor = await gateway.visitor();
  visitor.refuse(await visitor.take(), { code: "NOT_PAIRED", message: "pairing required", details: { requestId: "r1" } });
  await expect(connecting).rejects.toMatchObject({
    code: "PERMISSION_DENIED",
    message: "pairing required",
    details: { protocolCode: "NOT_PAIRED", details: { requestId: "r1" } },
  });
});

test("a gateway that never answers is given up", async () => {
  const connecting = begin();
  const visitor = await gateway.visitor();
  await visitor.take();
  clock.advance(10_000);
  await expect(connecting).rejects.toMatchObject({ code: "TIMEOUT", message: expect.stringContaining("did not complete the handshake within 10000 ms") });
});

test("a closed port is an error that says so", async () => {
  await expect(begin({ url: "ws://127.0.0.1:1" })).rejects.toMatchObject({ code: "UNAVAILABLE", message: expect.stringContaining("ECONNREFUSED") });
});

test("the device token of hello is kept and shown next time", async () => {
  const device = await webDevice();
  const deviceTokens = memoryTokens();
  await enter({ device, deviceTokens, token: "shared" }, { auth: { deviceToken: "dt-1", role: "operator", scopes: [] } });
  expect(deviceTokens.token).toBe("dt-1");
  const connecting = begin({ device, deviceTokens });
  const { params } = await (await gateway.visitor()).welcome();
  await connecting;
  expect(params["auth"]).toEqual({ token: "dt-1" });
});

test("a device token the gateway does not know is forgotten, and the given credential is tried", async () => {
  const device = await webDevice();
  const deviceTokens = memoryTokens("old");
  const connecting = begin({ device, deviceTokens, token: "shared", prefer: "stored" });
  const first = await gateway.visitor();
  const asked = await first.take();
  expect(asked.params["auth"]).toEqual({ token: "old" });
  first.refuse(asked, { code: "INVALID_REQUEST", message: "unauthorized: device token mismatch (rotate/reissue device token)" });
  const second = await gateway.visitor();
  const { params } = await second.welcome();
  await connecting;
  expect([params["auth"], deviceTokens.token]).toEqual([{ token: "shared" }, undefined]);
});

test("answers may come in any order", async () => {
  const { client, visitor } = await enter();
  const [one, two] = [client.call("a", { n: 1 }), client.call("b")];
  const [first, second] = [await visitor.take(), await visitor.take()];
  expect(second).not.toHaveProperty("params");
  visitor.answer(second, 2);
  visitor.answer(first, 1);
  expect(await Promise.all([one, two])).toEqual([1, 2]);
});

test("an answer in two steps: the first by default, the final one when asked for", async () => {
  const { client, visitor } = await enter();
  const early = client.call("agent", {});
  visitor.answer(await visitor.take(), { status: "accepted", runId: "r" });
  expect(await early).toEqual({ status: "accepted", runId: "r" });
  const accepted: unknown[] = [];
  const final = client.call("agent", {}, { expectFinal: true, onAccepted: (payload) => accepted.push(payload) });
  const asked = await visitor.take();
  visitor.answer(asked, { status: "accepted", runId: "r" });
  visitor.answer(asked, { status: "ok", runId: "r" });
  expect([await final, accepted]).toEqual([{ status: "ok", runId: "r" }, [{ status: "accepted", runId: "r" }]]);
});

test("a request without an answer fails in time, and can be cancelled", async () => {
  const { client, visitor } = await enter();
  const slow = client.request("health", {}, { timeoutMs: 1000 });
  await visitor.take();
  clock.advance(1000);
  await expect(slow).rejects.toMatchObject({ code: "TIMEOUT", message: "health got no response within 1000 ms" });
  const controller = new AbortController();
  const cancelled = client.request("health", {}, { signal: controller.signal });
  controller.abort();
  await expect(cancelled).rejects.toMatchObject({ code: "CANCELLED" });
});

test("an error of the gateway keeps its code, details and when to try again", async () => {
  const { client, visitor } = await enter();
  const asked = client.call("config.patch", {});
  const { id } = await visitor.take();
  visitor.send({ type: "res", id, ok: false, error: { code: "UNAVAILABLE", message: "rate limit", retryable: true, retryAfterMs: 5 }, payload: { a: 1 } });
  await expect(asked).rejects.toMatchObject({
    code: "UNAVAILABLE",
    message: "rate limit",
    details: { method: "config.patch", protocolCode: "UNAVAILABLE", retryable: true, retryAfterMs: 5, payload: { a: 1 } },
  });
});

test("events are read with for await; frames that are none, and unknown ones, disturb nothing", async () => {
  const { client, visitor } = await enter();
  const ticks = client.events("tick");
  visitor.send("not json");
  visitor.send({ type: "event", event: "tick", payload: { ts: 1 }, extra: true });
  visitor.send({ type: "event", event: "of.a.plugin", payload: {} });
  visitor.send({ type: "event", event: "tick", payload: { ts: 2 }, seq: 1 });
  visitor.send({ type: "event", event: "tick", payload: { ts: 3 }, seq: 2 });
  const seen: number[] = [];
  for await (const { ts } of ticks) {
    seen.push(ts);
    if (ts === 3) break;
  }
  expect(seen).toEqual([2, 3]);
});

test("missing events are noticed and the program is asked to load again", async () => {
  const reported: unknown[] = [];
  const { client, visitor } = await enter({ onGap: (gap) => reported.push(gap), onStale: (reason) => reported.push(reason.kind) });
  const ticks = client.events("tick");
  for (const seq of [4, 5, 9]) visitor.send({ type: "event", event: "tick", payload: { ts: seq }, seq });
  for (let i = 0; i < 3; i += 1) await ticks.next();
  expect(reported).toEqual([{ expected: 6, received: 9 }, "gap"]);
});

test("after two tick intervals of silence the connection is closed with 4000 and made again", async () => {
  const stale: string[] = [];
  const { client, visitor } = await enter({ onStale: (reason) => stale.push(reason.kind) }, { policy: { tickIntervalMs: 1000 } });
  const closed = new Promise<unknown[]>((resolve) => visitor.socket.once("close", (code, reason) => resolve([code, String(reason)])));
  clock.advance(1500);
  visitor.send({ type: "event", event: "tick", payload: { ts: 1 } });
  await client.events("tick").next();
  clock.advance(1999);
  expect(client.state).toBe("open");
  clock.advance(1);
  expect(await closed).toEqual([4000, "tick timeout"]);
  await expect.poll(() => client.state).toBe("reconnecting");
  clock.advance(500);
  await (await gateway.visitor()).welcome();
  await expect.poll(() => client.state).toBe("open");
  expect(stale).toEqual(["reconnected"]);
});

test("a lost connection is made again with growing waits; only what may happen twice is sent twice", async () => {
  const waits: (number | undefined)[] = [];
  const { client, visitor } = await enter({ onLost: ({ retryInMs }) => waits.push(retryInMs) });
  const lost = client.call("sessions.delete", { key: "k" });
  const kept = client.call("chat.send", { sessionKey: "k", message: "m", idempotencyKey: "i" });
  await visitor.take();
  await visitor.take();
  visitor.socket.close(1012, "service restart");
  await expect(lost).rejects.toMatchObject({ code: "UNAVAILABLE", message: expect.stringContaining("1012: service restart") });
  const meanwhile = client.call("health", {});
  clock.advance(500);
  (await gateway.visitor()).socket.terminate();
  await expect.poll(() => waits).toEqual([500, 1000]);
  clock.advance(1000);
  const again = await gateway.visitor();
  await again.welcome();
  const [first, second] = [await again.take(), await again.take()];
  expect([first.method, second.method]).toEqual(["chat.send", "health"]);
  again.answer(first, "sent");
  again.answer(second, "fine");
  expect(await Promise.all([kept, meanwhile])).toEqual(["sent", "fine"]);
});

test("streams of events go on over a new connection", async () => {
  const { client, visitor } = await enter();
  const ticks = client.events("tick");
  visitor.send({ type: "event", event: "tick", payload: { ts: 1 }, seq: 9 });
  await ticks.next();
  visitor.socket.terminate();
  await expect.poll(() => client.state).toBe("reconnecting");
  clock.advance(500);
  const again = await gateway.visitor();
  await again.welcome();
  again.send({ type: "event", event: "tick", payload: { ts: 2 }, seq: 1 });
  expect((await ticks.next()).value).toEqual({ ts: 2 });
});

test("a credential that is refused later ends the client: trying on would only lock it out", async () => {
  const { client, visitor } = await enter({ token: "shared" });
  visitor.socket.close(1008, "revoked");
  await expect.poll(() => client.state).toBe("reconnecting");
  clock.advance(500);
  const again = await gateway.visitor();
  again.refuse(await again.take(), { code: "INVALID_REQUEST", message: "unauthorized: gateway token mismatch (provide gateway auth token)" });
  expect(await client.closed).toMatchObject({ message: expect.stringContaining("token mismatch") });
  await expect(client.call("health")).rejects.toMatchObject({ message: expect.stringContaining("token mismatch") });
});

test("a device that has to be paired first keeps asking", async () => {
  const { client, visitor } = await enter();
  visitor.socket.terminate();
  await expect.poll(() => client.state).toBe("reconnecting");
  clock.advance(500);
  const refused = await gateway.visitor();
  refused.refuse(await refused.take(), { code: "NOT_PAIRED", message: "pairing required" });
  const later = gateway.visitor();
  await expect
    .poll(() => {
      clock.advance(100);
      return gateway.visits;
    })
    .toBe(3);
  await (await later).welcome();
  await expect.poll(() => client.state).toBe("open");
});

test("without reconnecting a lost connection is the end", async () => {
  const { client, visitor } = await enter({ reconnect: false });
  visitor.socket.close(1012, "service restart");
  expect(await client.closed).toMatchObject({ details: { closeCode: 1012 } });
  expect(client.state).toBe("closed");
});

test("closing ends requests and streams and asks nothing any more", async () => {
  const { client, visitor } = await enter();
  const closed = new Promise<number>((resolve) => visitor.socket.once("close", resolve));
  const asked = client.call("health");
  const next = client.events("tick").next();
  client.close();
  await expect(asked).rejects.toMatchObject({ message: expect.stringContaining("closed by this program") });
  expect([await next, await client.closed, await closed]).toEqual([{ done: true, value: undefined }, undefined, 1000]);
  clock.advance(60_000);
  expect(gateway.visits).toBe(1);
});
