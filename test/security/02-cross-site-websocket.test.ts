import { afterAll, beforeAll, expect, test } from "vitest";
import type { ConnectParams } from "../../src/protocol/index.ts";
import { createDevice } from "../harness/auth.ts";
import { enter, visit } from "../harness/device-client.ts";
import { makeFakeUi } from "../harness/fake-ui.ts";
import { openClient } from "../harness/gateway-client.ts";
import { ask, bearer, raw, start, TOKEN, type Started } from "./start.ts";

const ui = makeFakeUi();
const controlUi = { root: ui.root };
let gateway: Started;
let open: Started;
beforeAll(async () => {
  [gateway, open] = await Promise.all([start({ gateway: { controlUi } }), start({ gateway: { auth: { mode: "none" }, controlUi } })]);
});
afterAll(async () => {
  ui[Symbol.dispose]();
  await gateway[Symbol.asyncDispose]();
  await open[Symbol.asyncDispose]();
});

const HOSTS = ["evil.example", "evil.example:18789", "127.0.0.1.evil.example", "localhost.evil.example", "127.0.0.1@evil.example", "[::ffff:1.2.3.4]"];
const ORIGINS = [
  "https://evil.example",
  "http://127.0.0.1.evil.example",
  "http://localhost.evil.example",
  "http://evil.example@127.0.0.1.x",
  "null",
  "file://",
  "",
];
/** Programs that say they are pages, and so need an Origin. */
const PAGES = [
  { id: "openclaw-control-ui", mode: "webchat" },
  { id: "webchat-ui", mode: "webchat" },
] as const;

test.each(HOSTS)("2: an upgrade under the name %j from this machine gets 403 and no socket, with or without a secret", async (host) => {
  for (const { url } of [gateway, open]) {
    await expect(openClient(url, { headers: { host, ...bearer(TOKEN) } })).rejects.toThrow("403");
    expect((await ask(url, "/v1/models", { headers: { host, ...bearer(TOKEN) } })).status).toBe(403);
    expect((await ask(url, "/", { headers: { host } })).status).toBe(403);
  }
});

test("2: an upgrade that names no host, an empty one or two is refused", async () => {
  const upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n";
  for (const hosts of ["", "Host:\r\n", "Host: evil.example\r\nHost: 127.0.0.1\r\n", "Host: 127.0.0.1, evil.example\r\n"])
    expect([hosts, await raw(open.port, `GET / HTTP/1.1\r\n${hosts}${upgrade}\r\n`)]).toEqual([hosts, expect.stringMatching(/^HTTP\/1\.1 40[03] /)]);
});

test.each(ORIGINS)("2: a page of %j gets 403 and no socket from this machine, whatever it holds", async (origin) => {
  for (const { url } of [gateway, open]) {
    for (const headers of [{ origin }, { origin, ...bearer(TOKEN) }]) await expect(openClient(url, { headers })).rejects.toThrow("403");
    expect((await ask(url, "/v1/models", { headers: { origin, ...bearer(TOKEN) } })).status).toBe(403);
  }
});

test("2: a client that says it is a page and has no Origin gets no hello", async () => {
  for (const { url } of [gateway, open]) {
    for (const kind of PAGES) {
      const client: ConnectParams["client"] = { ...kind, version: "1", platform: "linux" };
      await using socket = await visit(url, { token: TOKEN, scopes: ["operator.admin"], params: { client } });
      expect([kind.id, socket.answer.ok, socket.answer.error?.message]).toEqual([kind.id, false, expect.stringMatching(/^origin not allowed/)]);
      expect((await socket.closed).code).toBe(1008);
    }
  }
});

test("2: a gateway that listens on the network refuses foreign names from this machine all the same", async () => {
  await using wide = await start({ gateway: { bind: "lan" } });
  for (const host of ["evil.example", `evil.example:${wide.port}`, "127.0.0.1.evil.example"]) {
    await expect(openClient(wide.url, { headers: { host, origin: `http://${host}` } })).rejects.toThrow("403");
    expect((await ask(wide.url, "/v1/models", { headers: { host, ...bearer(TOKEN) } })).status).toBe(403);
  }
});

test("2: this machine's own pages are let in", async () => {
  for (const origin of [gateway.url, `http://localhost:${gateway.port}`]) {
    const client: ConnectParams["client"] = { id: "openclaw-control-ui", mode: "webchat", version: "1", platform: "web" };
    await using socket = await visit(gateway.url, { token: TOKEN, scopes: ["operator.read"], params: { client }, options: { headers: { origin } } });
    expect(socket.answer.error).toBeUndefined();
  }
});

test("2: no page may read an answer: there is no CORS header, and no preflight passes", async () => {
  for (const path of [
    "/",
    "/chat",
    "/assets/main-00000000.js",
    "/__openclaw/login",
    "/health",
    "/v1/models",
    "/v1/chat/completions",
    "/tools/invoke",
    "/hooks/wake",
  ]) {
    const headers = { origin: "https://evil.example", "access-control-request-method": "POST", "access-control-request-headers": "authorization" };
    const reply = await ask(gateway.url, path, { method: "OPTIONS", headers });
    expect([path, reply.status >= 400]).toEqual([path, true]);
    expect(Object.keys(reply.headers).filter((name) => name.startsWith("access-control-"))).toEqual([]);
  }
});

test.each(ORIGINS)("2: a page of %j cannot use a login code, even one it has", async (origin) => {
  await using admin = await enter(gateway.url, { token: TOKEN, scopes: ["operator.admin"] });
  const code = String((await admin.ask("login.code")).payload!["code"]);
  const { id, publicKey } = createDevice();
  const login = (headers: Record<string, string>, body = JSON.stringify({ code, device: { id, publicKey } })) =>
    ask(gateway.url, "/__openclaw/login", { method: "POST", headers: { "content-type": "application/json", ...headers }, body });
  expect((await login({ origin })).status).toBe(403);
  expect((await login({ origin: gateway.url, host: "evil.example" })).status).toBe(403);
  // What a form on a foreign page can send without being asked.
  expect((await login({ origin: gateway.url, "content-type": "text/plain" })).status).toBe(415);
  expect((await login({ origin: gateway.url })).status).toBe(200);
});

test("2: no page can be framed, opened from another or read by another, whatever its path", async () => {
  for (const path of ["/", "/chat/agent:main:main", "/index.html"]) {
    const { headers } = await ask(gateway.url, path, { headers: { origin: "https://evil.example" } });
    expect(headers).toMatchObject({ "x-frame-options": "DENY", "cross-origin-opener-policy": "same-origin", "cross-origin-resource-policy": "same-origin" });
    expect(headers["content-security-policy"]).toContain("frame-ancestors 'none'");
  }
});
