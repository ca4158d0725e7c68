import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createConnection, createServer as createTcp, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect as connectTls } from "node:tls";
import { afterEach, expect, test } from "vitest";
import { loadHttp } from "../base/builtin.ts";
import { silentLogger, type Logger } from "../base/log/logger.ts";
import { resolveBinding } from "./bind.ts";
import { openServer, type GatewayServer, type ServerDeps, type ServerSettings } from "./server.ts";

let server: GatewayServer | undefined;
afterEach(async () => {
  await server?.[Symbol.asyncDispose]();
  server = undefined;
});

const temporary = (): string => mkdtempSync(join(tmpdir(), "openclaw-server-"));

async function start(settings: Partial<ServerSettings> = {}, over: Partial<ServerDeps> = {}): Promise<GatewayServer> {
  const env = { PATH: process.env["PATH"] };
  server = await openServer({ settings: { port: 0, authMode: "token", ...settings }, log: silentLogger, stateDir: temporary(), env, ...over });
  return server;
}

function serve(): void {
  server!.serve({ request: (_, response) => response.end("served"), upgrade: (_, socket) => socket.destroy() });
}

function get(host: string, headers: Record<string, string> = {}): Promise<{ status: number; body: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; body: string }>();
  const request = loadHttp().get({ host, port: server!.port, path: "/", headers, agent: false }, (response) => {
    let body = "";
    response.on("data", (chunk) => (body += String(chunk)));
    response.on("end", () => resolve({ status: response.statusCode!, body }));
  });
  request.on("error", reject);
  return promise;
}

/** Notes what is logged. */
function listening(lines: string[]): Logger {
  const note = (message: string): void => void lines.push(message);
  return { ...silentLogger, warn: note, info: note };
}

/** Whether this machine has ::1. */
async function hasIpv6(): Promise<boolean> {
  const probe = createTcp();
  try {
    probe.listen(0, "::1");
    await once(probe, "listening");
    return true;
  } catch {
    return false;
  } finally {
    probe.close();
  }
}

test("by default it listens on loopback only, in both families where there are two", async () => {
  await start();
  serve();
  expect(server!.addresses).toEqual((await hasIpv6()) ? ["127.0.0.1", "::1"] : ["127.0.0.1"]);
  for (const address of server!.addresses) expect(await get(address)).toEqual({ status: 200, body: "served" });
});

test("until a handler is set, it reports that it is starting", async () => {
  await start();
  expect((await get("127.0.0.1")).status).toBe(503);
  serve();
  expect((await get("127.0.0.1")).status).toBe(200);
});

test("on loopback only loopback names are answered, so that no page gets here by rebinding its name", async () => {
  await start();
  serve();
  for (const host of ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "127.0.0.1:80:80", "localhost."]) {
    expect([host, (await get("127.0.0.1", { host })).status]).toEqual([host, 403]);
  }
  for (const host of ["localhost", `LOCALHOST:${server!.port}`, "[::1]:1", "127.0.0.1"]) expect((await get("127.0.0.1", { host })).status).toBe(200);
});

test("who serves may accept more names", async () => {
  await start();
  server!.serve({ request: (_, response) => response.end("x"), upgrade: () => {}, isHostAllowed: ({ headers }) => headers.host === "box.tail.ts.net" });
  expect((await get("127.0.0.1", { host: "box.tail.ts.net" })).status).toBe(200);
  expect((await get("127.0.0.1", { host: "other.ts.net" })).status).toBe(403);
});

test("a port that another gateway has is named as such", async () => {
  const { port } = await start();
  server!.serve({ request: (_, response) => void response.setHeader("content-type", "application/json").end('{"ok":true,"status":"ok"}'), upgrade: () => {} });
  await expect(openServer({ settings: { port, authMode: "token" }, log: silentLogger, stateDir: "/", env: {} })).rejects.toMatchObject({
    code: "LOCKED",
    message: expect.stringMatching(/another gateway instance is already listening on ws:\/\/127\.0\.0\.1:\d+.*--port/),
  });
});

test("a taken port is named, with what to do", async () => {
  const { port } = await start();
  server!.serve({ request: (_, response) => void response.end("something else"), upgrade: () => {} });
  const env = {};
  await expect(openServer({ settings: { port, authMode: "token" }, log: silentLogger, stateDir: "/", env })).rejects.toMatchObject({
    code: "LOCKED",
    message: expect.stringMatching(/another program is already listening on ws:\/\/127\.0\.0\.1:\d+.*--port/),
  });
});

test("the network is listened on with authentication only, and a warning says what that opens", async () => {
  await expect(start({ bind: "lan", authMode: "none" })).rejects.toMatchObject({ code: "CONFIG_INVALID", message: expect.stringContaining("gateway.auth") });
  const lines: string[] = [];
  await start({ bind: "lan" }, { log: listening(lines) });
  serve();
  expect(lines.join()).toMatch(/listening on 0\.0\.0\.0 port \d+.*not encrypted/);
  expect((await get("127.0.0.1", { host: "my-box.lan" })).status).toBe(200);
});

test("an address that this machine does not have is named", async () => {
  await expect(start({ bind: "custom", host: "203.0.113.7" })).rejects.toMatchObject({ message: expect.stringContaining("203.0.113.7") });
  await expect(start({ bind: "custom" })).rejects.toMatchObject({ code: "CONFIG_INVALID" });
});

test.each([
  ["loopback", {}, { addresses: ["127.0.0.1", "::1"] }],
  ["auto", {}, { addresses: ["127.0.0.1", "::1"], fallback: "0.0.0.0" }],
  ["lan", {}, { addresses: ["0.0.0.0"] }],
  ["tailnet", { ts0: [{ address: "100.101.2.3", family: "IPv4", internal: false }] }, { addresses: ["100.101.2.3", "127.0.0.1"] }],
  ["tailnet", { eth0: [{ address: "100.128.0.1", family: "IPv4", internal: false }] }, { addresses: ["127.0.0.1", "::1"] }],
] as const)("gateway.bind %s", (bind, interfaces, binding) => {
  expect(resolveBinding(bind, undefined, () => interfaces)).toEqual(binding);
});

test("a certificate is made when there is none, its key is the owner's, its fingerprint is reported", async () => {
  const stateDir = temporary();
  const lines: string[] = [];
  await start({ tls: { enabled: true } }, { stateDir, log: listening(lines) });
  serve();
  const key = join(stateDir, "gateway/tls/gateway-key.pem");
  const cert = join(stateDir, "gateway/tls/gateway-cert.pem");
  expect(statSync(key).mode & 0o777).toBe(0o600);
  const { fingerprint256 } = new X509Certificate(readFileSync(cert));
  expect(server!.fingerprint).toBe(fingerprint256);
  expect(lines.join()).toContain(fingerprint256);
  expect(server!.url).toMatch(/^https:/);
  const socket = connectTls({ host: "127.0.0.1", port: server!.port, ca: readFileSync(cert), servername: "localhost" });
  await once(socket, "secureConnect");
  expect(socket.getPeerCertificate().fingerprint256).toBe(fingerprint256);
  socket.write("GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
  let text = "";
  socket.on("data", (chunk: Buffer) => (text += chunk.toString("latin1")));
  await once(socket, "close");
  expect(text).toMatch(/^HTTP\/1\.1 200 [\s\S]*served$/);
});

test("what is missing for encryption is named", async () => {
  await expect(start({ tls: { enabled: true } }, { env: { PATH: "/nonexistent" } })).rejects.toMatchObject({
    message: expect.stringMatching(/openssl.*gateway\.tls\.certPath/),
  });
  await expect(start({ tls: { enabled: true, autoGenerate: false } })).rejects.toMatchObject({ code: "NOT_FOUND" });
  const file = join(temporary(), "cert.pem");
  writeFileSync(file, "not a certificate");
  await expect(start({ tls: { enabled: true, certPath: file, keyPath: file } })).rejects.toMatchObject({ code: "CONFIG_INVALID" });
});

async function raw(): Promise<Socket> {
  const socket = createConnection(server!.port, "127.0.0.1");
  socket.on("error", () => {});
  await once(socket, "connect");
  return socket;
}

test("strangers get a limited number of sockets; those that are known do not count", async () => {
  await start({ limits: { perAddress: 2, perLoopback: 3, total: 10 } });
  const held: Socket[] = [];
  const upgraded: Socket[] = [];
  server!.serve({ request: () => {}, upgrade: (_, socket) => void upgraded.push(socket) });
  for (let i = 0; i < 3; i += 1) held.push(await raw());
  held[0]!.write("GET / HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n");
  while (upgraded.length === 0) await new Promise(setImmediate);
  const fourth = await raw();
  await once(fourth, "close");
  expect(server!.strangers()).toBe(3);
  server!.admit(upgraded[0]!);
  expect(server!.strangers()).toBe(2);
  held.push(await raw());
  while (server!.strangers() < 3) await new Promise(setImmediate);
  for (const socket of held) socket.destroy();
  while (server!.strangers() > 0) await new Promise(setImmediate);
  upgraded[0]!.destroy();
});

test("headers that do not end are cut off", async () => {
  await start();
  serve();
  const socket = await raw();
  let text = "";
  socket.on("data", (chunk: Buffer) => (text += chunk.toString("latin1")));
  socket.write(`GET / HTTP/1.1\r\nhost: localhost\r\nx: ${"y".repeat(20_000)}`);
  await once(socket, "close");
  expect(text).toMatch(/^HTTP\/1\.1 431 /);
});

/** Everything that a connection receives until the server ends it. */
async function received(socket: Pick<Socket, "on" | "once">): Promise<string> {
  let text = "";
  socket.on("data", (chunk: Buffer) => (text += chunk.toString("latin1")));
  socket.on("error", () => {});
  await new Promise<void>((resolve) => socket.once("close", () => resolve()));
  return text;
}

const SOON = { headersMs: 60, requestMs: 60, idleMs: 60, checkEveryMs: 20 };

test("a connection that asks nothing is closed without a byte", async () => {
  await start({ requestTimes: SOON });
  serve();
  expect(await received(await raw())).toBe("");
});

test("an encrypted connection that asks nothing is closed without a byte", async () => {
  const stateDir = temporary();
  await start({ tls: { enabled: true }, requestTimes: SOON }, { stateDir });
  serve();
  const ca = readFileSync(join(stateDir, "gateway/tls/gateway-cert.pem"));
  expect(await received(connectTls({ host: "127.0.0.1", port: server!.port, ca, servername: "localhost" }))).toBe("");
});

test("a connection that asks nothing is closed without a byte when the server ends", async () => {
  await start();
  serve();
  const silent = received(await raw());
  while (server!.strangers() === 0) await new Promise(setImmediate);
  await server![Symbol.asyncDispose]();
  expect(await silent).toBe("");
});

test("a connection that asks nothing more is closed without another byte", async () => {
  await start({ requestTimes: SOON });
  serve();
  const socket = await raw();
  const text = received(socket);
  socket.write("GET / HTTP/1.1\r\nhost: localhost\r\n\r\n");
  expect(await text).toMatch(/^HTTP\/1\.1 200 [^]*served(\r\n0\r\n\r\n)?$/);
});

test("a request that does not arrive in time is answered with 408", async () => {
  await start({ requestTimes: SOON });
  serve();
  const socket = await raw();
  socket.write("GET / HTTP/1.1\r\nhost: local");
  expect(await received(socket)).toMatch(/^HTTP\/1\.1 408 /);
});

test("nothing is written into an answer that has begun", async () => {
  await start();
  server!.serve({ request: (_, response) => void response.write("the beginning"), upgrade: () => {} });
  const socket = await raw();
  const text = received(socket);
  socket.write("GET / HTTP/1.1\r\nhost: localhost\r\n\r\n");
  await once(socket, "data");
  socket.write("no request at all\r\n\r\n");
  expect(await text).toMatch(/^HTTP\/1\.1 200 [^]*the beginning\r\n$/);
});
