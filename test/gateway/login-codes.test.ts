import { afterEach, beforeEach, expect, test } from "vitest";
import { CODE_LIFE_MS } from "../../src/gateway/auth/login/codes.ts";
import { createAuthBench, createDevice, TOKEN, type AuthBench } from "../harness/auth.ts";
import { startSurface, type Reply, type TestSurface } from "../harness/http-surface.ts";

const SCOPES = ["operator.admin", "operator.approvals", "operator.pairing"];
const UI = { id: "openclaw-control-ui", mode: "webchat", version: "1", platform: "web" } as const;

let bench: AuthBench;
let gateway: TestSurface;
beforeEach(async () => {
  bench = await createAuthBench({ auth: { token: TOKEN, rateLimit: { maxAttempts: 3, exemptLoopback: false } } });
  gateway = await startSurface({ auth: bench.auth, config: { gateway: { controlUi: { basePath: "/claw" } } } });
});
afterEach(async () => {
  await gateway[Symbol.asyncDispose]();
  await bench[Symbol.asyncDispose]();
});

const own = (): string => `http://127.0.0.1:${gateway.port}`;
const named = ({ id, publicKey }: { readonly id: string; readonly publicKey: string }) => ({ id, publicKey });
const send = (body: unknown, headers: Record<string, string> = {}): Promise<Reply> =>
  gateway.ask("/claw/__openclaw/login", {
    method: "POST",
    headers: { "content-type": "application/json", origin: own(), ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
const paired = async (): Promise<number> => (await bench.auth.pairing.list()).paired.length;

test("a code is traded for the token of a device, which is an operator with all scopes from then on", async () => {
  const device = createDevice();
  const reply = await send({ code: bench.auth.login.code().code, device: named(device) });
  expect([reply.status, reply.json()]).toEqual([200, { ok: true, role: "operator", scopes: SCOPES, deviceToken: expect.stringMatching(/^[\w-]{43}$/) }]);
  expect(reply.headers["cache-control"]).toBe("no-store");
  const { deviceToken } = reply.json() as { deviceToken: string };
  const origin = { origin: "https://gw.example.com:18789", host: "gw.example.com:18789" };
  const admission = await bench.connect(
    device,
    { client: UI, scopes: SCOPES, auth: { token: deviceToken } },
    { socket: { remoteAddress: "203.0.113.9" }, headers: origin },
  );
  expect(admission).toMatchObject({ ok: true, method: "device-token", deviceId: device.id, scopes: new Set(SCOPES) });
  expect(bench.events).toEqual([{ event: "device.pair.resolved", payload: expect.objectContaining({ deviceId: device.id, decision: "approved" }) }]);
});

test("the token is worth nothing without the device's key", async () => {
  const { deviceToken } = (await send({ code: bench.auth.login.code().code, device: named(createDevice()) })).json() as { deviceToken: string };
  expect(
    await bench.connect(
      createDevice(),
      { client: UI, scopes: SCOPES, auth: { token: deviceToken } },
      { socket: { remoteAddress: "127.0.0.1" }, headers: { host: "localhost", origin: "http://localhost" } },
    ),
  ).toMatchObject({ ok: false });
});

test("a code works once", async () => {
  const { code } = bench.auth.login.code();
  expect((await send({ code, device: named(createDevice()) })).status).toBe(200);
  const second = await send({ code, device: named(createDevice()) });
  expect([second.status, second.json()]).toEqual([401, { ok: false, error: expect.stringContaining("openclaw dashboard") }]);
  expect(await paired()).toBe(1);
});

test("of a hundred who show one code at the same time exactly one gets in", async () => {
  const { code } = bench.auth.login.code();
  const replies = await Promise.all(Array.from({ length: 100 }, () => send({ code, device: named(createDevice()) })));
  expect(replies.filter(({ status }) => status === 200).length).toBe(1);
  expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200, 401, 429]));
  expect(await paired()).toBe(1);
});

test("a code ends after ten minutes", async () => {
  const { code } = bench.auth.login.code();
  bench.clock.advance(CODE_LIFE_MS);
  expect((await send({ code, device: named(createDevice()) })).status).toBe(401);
});

test("a page of another origin, or none, gets nothing, and the code stays good", async () => {
  const { code } = bench.auth.login.code();
  const device = named(createDevice());
  for (const origin of ["https://evil.example", "null", "http://127.0.0.1.evil.example", "file://", ""]) {
    const reply = await send({ code, device }, { origin });
    expect([origin, reply.status, reply.json()]).toEqual([origin, 403, { ok: false, error: expect.stringContaining("origin not allowed") }]);
  }
  const bare = await gateway.ask("/claw/__openclaw/login", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ code, device }),
  });
  expect(bare.status).toBe(403);
  expect((await send({ code, device }, { host: "evil.example" })).status).toBe(403);
  expect((await send({ code, device })).status).toBe(200);
});

test("what forms can send is not taken", async () => {
  const body = { code: bench.auth.login.code().code, device: named(createDevice()) };
  for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "", "application/jsonx"])
    expect([type, (await send(body, { "content-type": type })).status]).toEqual([type, 415]);
  expect((await send(body, { "content-type": "application/json; charset=utf-8" })).status).toBe(200);
});

test("a browser without a key of its own is shown what it needs, and the code stays good", async () => {
  const { code } = bench.auth.login.code();
  for (const device of [undefined, null]) {
    const reply = await send({ code, device });
    expect([reply.status, reply.json()]).toEqual([400, { ok: false, error: expect.stringMatching(/HTTPS or at http:\/\/localhost/) }]);
  }
  expect((await send({ code, device: named(createDevice()) })).status).toBe(200);
});

test("bodies that are none are refused, count as no guess, and use no code up", async () => {
  const { code } = bench.auth.login.code();
  const device = named(createDevice());
  const other = createDevice();
  const bad = [
    "",
    "{",
    "[]",
    "null",
    {},
    { device },
    { code: 5, device },
    { code: "", device },
    { code, device: "x" },
    { code, device: [] },
    { code, device: {} },
    { code, device: { id: device.id } },
    { code, device: { ...device, id: other.id } },
    { code, device: { ...device, publicKey: other.publicKey } },
    { code, device: { ...device, publicKey: "AAAA" } },
    { code, device: { id: device.id, publicKey: { toString: "x" } } },
  ];
  for (const body of bad) expect([body, (await send(body)).status]).toEqual([body, 400]);
  expect((await send({ code, device, more: "x".repeat(4096) })).status).toBe(413);
  expect((await gateway.ask("/claw/__openclaw/login")).headers["allow"]).toBe("POST");
  expect((await send({ code, device })).status).toBe(200);
});

test("wrong codes count against the one budget of all secrets, and a locked out address is refused with a good code too", async () => {
  const { code } = bench.auth.login.code();
  const device = named(createDevice());
  await gateway.ask("/v1/models", { token: "wrong" });
  for (const wrong of ["a", "b"]) expect((await send({ code: wrong, device })).status).toBe(401);
  const locked = await send({ code, device });
  expect([locked.status, Number(locked.headers["retry-after"])]).toEqual([429, 300]);
  expect((await gateway.ask("/v1/models", { token: TOKEN })).status).toBe(429);
  bench.clock.advance(300_000);
  expect((await send({ code, device })).status).toBe(200);
});

test("a changed token ends every code; devices that came in by one stay", async () => {
  const device = createDevice();
  const { deviceToken } = (await send({ code: bench.auth.login.code().code, device: named(device) })).json() as { deviceToken: string };
  const { code } = bench.auth.login.code();
  await bench.auth.update({ ...(await import("../../src/gateway/auth/index.ts")).settingsFrom({ gateway: { auth: { token: "another-token" } } }, {}) });
  expect((await send({ code, device: named(createDevice()) })).status).toBe(401);
  expect(await bench.auth.pairing.verifyToken({ deviceId: device.id, role: "operator", token: deviceToken, scopes: SCOPES })).toBe("fits");
});

test("codes do not outlive the process, and none is in the store", async () => {
  const { code } = bench.auth.login.code();
  const again = bench.restarted();
  const request = { socket: { remoteAddress: "127.0.0.1" }, headers: { host: "localhost" } };
  expect(await again.login.redeem(request, { code, device: named(createDevice()) })).toMatchObject({ ok: false, status: 401 });
});

test("a device that is in already gets its token again", async () => {
  const device = createDevice();
  const tokens = [];
  for (let turn = 0; turn < 2; turn += 1)
    tokens.push(((await send({ code: bench.auth.login.code().code, device: named(device) })).json() as { deviceToken: string }).deviceToken);
  expect(tokens[0]).toBe(tokens[1]);
  expect(await paired()).toBe(1);
});
