import { once } from "node:events";
import { createConnection } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { manualClock, systemClock } from "../../src/base/clock.ts";
import { CONNECT, openClient } from "../harness/gateway-client.ts";
import { startGateway, type Started } from "./start.ts";

let started: Started;
const url = (): string => started.gateway.url;

beforeAll(async () => {
  started = await startGateway({ handlers: () => ({ "system-presence": () => [] }) });
});
afterAll(() => started[Symbol.asyncDispose]());

const frame = (method: string, params?: unknown): string => JSON.stringify({ type: "req", id: "1", method, params });

test("the challenge comes first, without a number, with a nonce of its own", async () => {
  await using a = await openClient(url());
  await using b = await openClient(url());
  const first = await a.event("connect.challenge");
  const second = await b.event("connect.challenge");
  expect(Object.keys(first).sort()).toEqual(["event", "payload", "type"]);
  expect(first.payload!["nonce"]).toMatch(/^[0-9a-f-]{36}$/);
  expect(first.payload!["nonce"]).not.toBe(second.payload!["nonce"]);
  expect(Math.abs(systemClock.now() - Number(first.payload!["ts"]))).toBeLessThan(60_000);
});

test.each([
  ["a text that is not JSON", "hello", 1000, ""],
  ["a binary frame", Buffer.from(frame("connect", CONNECT)), 1000, ""],
  ["JSON that is not a request", '{"type":"event","event":"x"}', 1008, "invalid request frame"],
  ["an array", "[]", 1008, "invalid request frame"],
  ["null", "null", 1008, "invalid request frame"],
  ["a request with another key", '{"type":"req","id":"1","method":"connect","extra":1}', 1008, "invalid request frame"],
  ["a request with a prototype key", '{"type":"req","id":"1","method":"connect","params":{"__proto__":{"x":1}}}', 1008, "invalid request frame"],
  ["thousands of nested arrays", `{"type":"req","id":"1","method":"connect","params":${"[".repeat(9000)}${"]".repeat(9000)}}`, 1008, "invalid request frame"],
])("%s ends the handshake without an answer", async (_, text, code, reason) => {
  await using client = await openClient(url());
  client.send(text);
  expect(await client.closed).toEqual({ code, reason });
  expect(client.frames.filter((got) => got.type === "res")).toEqual([]);
});

test.each([
  ["another method", frame("health"), 1008, { code: "INVALID_REQUEST", message: "invalid handshake: first request must be connect" }],
  [
    "parameters that do not fit",
    frame("connect", { ...CONNECT, client: { ...(CONNECT["client"] as object), id: "netcat" } }),
    1008,
    { code: "INVALID_REQUEST", message: expect.stringMatching(/^invalid connect params: at \/client\/id: /) },
  ],
  ["an unknown key", frame("connect", { ...CONNECT, more: 1 }), 1008, { message: "invalid connect params: at root: unexpected property 'more'" }],
  ["no parameters", frame("connect"), 1008, { message: expect.stringContaining("invalid connect params: ") }],
  [
    "a newer protocol only",
    frame("connect", { ...CONNECT, minProtocol: 4, maxProtocol: 5 }),
    1002,
    { code: "INVALID_REQUEST", message: "protocol mismatch", details: { expectedProtocol: 3 } },
  ],
  ["an older protocol only", frame("connect", { ...CONNECT, minProtocol: 1, maxProtocol: 2 }), 1002, { message: "protocol mismatch" }],
])("%s is answered and closed with the message as reason", async (_, text, code, error) => {
  await using client = await openClient(url());
  client.send(text);
  const answer = await client.next((got) => got.type === "res");
  expect(answer).toMatchObject({ id: "1", ok: false, error });
  const closed = await client.closed;
  expect(closed.code).toBe(code);
  expect(closed.reason).toBe(Buffer.from(answer.error!.message).subarray(0, 120).toString());
});

test.each([
  [{ code: "INVALID_REQUEST", message: "invalid role" }],
  [{ code: "NOT_PAIRED", message: "pairing required", details: { requestId: "r-1" } }],
  [{ code: "INVALID_REQUEST", message: "unauthorized: device token mismatch (rotate/reissue device token)" }],
] as const)("what auth refuses is answered as it says: %j", async (refusal) => {
  started.auth.refuse = () => ({ ok: false, closeCode: 1008, ...refusal });
  try {
    await using client = await openClient(url());
    expect((await client.connect()).error).toEqual(refusal);
    expect(await client.closed).toEqual({ code: 1008, reason: refusal.message });
  } finally {
    started.auth.refuse = undefined;
  }
});

test("a long reason is cut to 120 bytes between characters", async () => {
  started.auth.refuse = () => ({ ok: false, closeCode: 1008, code: "INVALID_REQUEST", message: `x${"ä".repeat(100)}` });
  try {
    await using client = await openClient(url());
    await client.connect();
    expect((await client.closed).reason).toBe(`x${"ä".repeat(59)}`);
  } finally {
    started.auth.refuse = undefined;
  }
});

test("auth sees the parameters, this connection's nonce and its headers", async () => {
  const seen = Promise.withResolvers<unknown>();
  started.auth.refuse = (input) => {
    seen.resolve({ nonce: input.nonce, origin: input.request.headers["origin"], id: input.params.client.id, ip: input.request.socket.remoteAddress });
    return undefined;
  };
  try {
    await using client = await openClient(url(), { headers: { origin: "http://page.example" } });
    const challenge = await client.event("connect.challenge");
    await client.connect();
    expect(await seen.promise).toEqual({ nonce: challenge.payload!["nonce"], origin: "http://page.example", id: "test", ip: "127.0.0.1" });
  } finally {
    started.auth.refuse = undefined;
  }
});

test("hello-ok tells what the gateway is, can and knows", async () => {
  await using client = await openClient(url());
  const { ok, payload } = await client.connect();
  expect(ok).toBe(true);
  expect(payload).toMatchObject({
    type: "hello-ok",
    protocol: 3,
    server: { version: "1.2.3", connId: expect.stringMatching(/^[0-9a-f-]{36}$/) },
    features: { methods: ["system-presence"], events: expect.arrayContaining(["tick", "chat", "shutdown"]) },
    snapshot: {
      stateVersion: { presence: expect.any(Number), health: expect.any(Number) },
      uptimeMs: expect.any(Number),
      configPath: "/private/openclaw.json",
      authMode: "token",
      health: { ok: true },
    },
    policy: { maxPayload: 26_214_400, maxBufferedBytes: 52_428_800, tickIntervalMs: 30_000 },
  });
  const { presence } = payload!["snapshot"] as { presence: { mode: string; reason: string }[] };
  expect(presence.map((entry) => entry.reason)).toEqual(expect.arrayContaining(["self", "connect"]));
  await client.event("health");
});

test("hello-ok fits its published shape", async () => {
  const { loadAnswerChecks } = await import("../../src/protocol/index.ts");
  const checks = await loadAnswerChecks();
  await using client = await openClient(url());
  const { payload } = await client.connect({ device: { id: "d", publicKey: "k", signature: "s", signedAt: 1 } });
  expect(checks.hello(payload)).toBeUndefined();
});

test("a second frame before hello fails the handshake", async () => {
  const gate = Promise.withResolvers<undefined>();
  started.auth.refuse = () => gate.promise;
  try {
    await using client = await openClient(url());
    client.send(frame("connect", CONNECT));
    client.send(JSON.stringify({ type: "req", id: "2", method: "health" }));
    expect((await client.closed).code).toBe(1008);
    gate.resolve(undefined);
    expect(client.frames.filter((got) => got.type === "res")).toEqual([
      { type: "res", id: "2", ok: false, error: { code: "INVALID_REQUEST", message: "invalid handshake: first request must be connect" } },
    ]);
    expect(started.gateway.hub.clients.size).toBe(0);
  } finally {
    started.auth.refuse = undefined;
  }
});

test("more than 64 KiB before hello ends the connection, however they are cut", async () => {
  await using client = await openClient(url());
  client.ws.send("x".repeat(40_000), { fin: false });
  client.ws.send("x".repeat(40_000), { fin: true });
  expect(await client.closed).toMatchObject({ code: 1009 });
});

test("without hello the connection ends after ten seconds, without an answer", async () => {
  const clock = manualClock();
  await using slow = await startGateway({ clock });
  await using client = await openClient(slow.gateway.url);
  await client.event("connect.challenge");
  clock.advance(9900);
  expect(client.ws.readyState).toBe(1);
  clock.advance(400);
  expect(await client.closed).toEqual({ code: 1000, reason: "" });
});

test("a client that is in stays in after those ten seconds", async () => {
  const clock = manualClock();
  await using slow = await startGateway({ clock });
  await using client = await openClient(slow.gateway.url);
  await client.connect();
  clock.advance(20_000);
  expect((await client.request("nope")).error!.message).toBe("unknown method: nope");
});

test("an error inside auth closes the connection and the gateway goes on", async () => {
  started.auth.refuse = () => {
    throw new Error("boom");
  };
  await using client = await openClient(url());
  client.connect().catch(() => {});
  expect((await client.closed).code).toBe(1011);
  started.auth.refuse = undefined;
  await using next = await openClient(url());
  expect((await next.connect()).ok).toBe(true);
});

test("a foreign Host is refused before the upgrade", async () => {
  await expect(openClient(url(), { headers: { host: "evil.example" } })).rejects.toThrow("403");
  await expect(openClient(url(), { headers: { host: "127.0.0.1.evil.example" } })).rejects.toThrow("403");
});

test("over TLS it is the same, and a client that is in is no stranger", async () => {
  await using secure = await startGateway({ settings: { tls: { enabled: true } } });
  expect(secure.gateway.url).toMatch(/^https:/);
  await using client = await openClient(secure.gateway.url, { rejectUnauthorized: false });
  await client.event("connect.challenge");
  expect(secure.server.strangers()).toBe(1);
  expect((await client.connect()).ok).toBe(true);
  expect(secure.server.strangers()).toBe(0);
});

test("the canvas path takes no gateway connections", async () => {
  await expect(openClient(`${url()}/__openclaw__/ws`)).rejects.toThrow("404");
  await using client = await openClient(`${url()}/any/other/path`);
  expect((await client.connect()).ok).toBe(true);
});

test("a broken frame on the wire closes the connection with the code that names it", async () => {
  await using bad = await openClient(url());
  await bad.connect();
  const raw = (bad.ws as unknown as { _socket: { write(data: Buffer): void } })._socket;
  // A masked text frame whose one byte is no UTF-8.
  raw.write(Buffer.from([0x81, 0x81, 0, 0, 0, 0, 0xff]));
  expect((await bad.closed).code).toBe(1007);
  await using unmasked = await openClient(url());
  await unmasked.connect();
  (unmasked.ws as unknown as { _socket: { write(data: Buffer): void } })._socket.write(Buffer.from([0x81, 0x01, 0x41]));
  expect((await unmasked.closed).code).toBe(1002);
});

test("garbage instead of HTTP gets 400 and the socket is closed", async () => {
  const socket = createConnection(started.gateway.port, "127.0.0.1");
  socket.end("\u0000\u0001garbage\r\n\r\n");
  let text = "";
  socket.on("data", (chunk: Buffer) => (text += chunk.toString("latin1")));
  await once(socket, "close");
  expect(text).toMatch(/^HTTP\/1\.1 400 /);
});
