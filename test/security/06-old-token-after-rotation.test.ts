import { readFileSync } from "node:fs";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createDevice } from "../harness/auth.ts";
import { enter, visit, type DeviceClient } from "../harness/device-client.ts";
import { expectInTime } from "../harness/in-time.ts";
import { ask, bearer, configText, start, TOKEN, type Started } from "./start.ts";

let gateway: Started;
let admin: DeviceClient;
beforeEach(async () => {
  gateway = await start();
  admin = await enter(gateway.url, { token: TOKEN, scopes: ["operator.admin"] });
});
afterEach(async () => {
  await admin[Symbol.asyncDispose]();
  await gateway[Symbol.asyncDispose]();
});

const deviceTokenOf = (client: DeviceClient): string => (client.answer.payload!["auth"] as { deviceToken: string }).deviceToken;

/** A device on two sockets: one with the shared secret, one with its own token. */
async function pair(): Promise<{ device: ReturnType<typeof createDevice>; token: string; sockets: DeviceClient[] }> {
  const device = createDevice();
  const first = await enter(gateway.url, { device, token: TOKEN, scopes: ["operator.read"] });
  const token = deviceTokenOf(first);
  return { device, token, sockets: [first, await enter(gateway.url, { device, token, scopes: ["operator.read"] })] };
}

/** Resolves with how long the sockets took to close. */
async function closedWithin(sockets: readonly DeviceClient[], since: number): Promise<number> {
  for (const socket of sockets) expect((await socket.closed).code).toBe(1008);
  return performance.now() - since;
}

test.each([
  ["rotating", "device.token.rotate"],
  ["revoking", "device.token.revoke"],
  ["removing", "device.pair.remove"],
] as const)("6: %s closes open sockets within a second, and the old token opens nothing more", async (_name, method) => {
  const { device, token, sockets } = await pair();
  const [, own] = sockets;
  const since = performance.now();
  const params = method === "device.pair.remove" ? { deviceId: device.id } : { deviceId: device.id, role: "operator" };
  expect((await admin.ask(method, params)).ok).toBe(true);
  own!.send(JSON.stringify({ type: "req", id: "late", method: "health", params: {} }));
  expectInTime(await closedWithin([own!], since), 1000);
  expect(own!.frames.filter(({ id }) => id === "late")).toEqual([]);
  await using again = await visit(gateway.url, { device, token, scopes: ["operator.read"] });
  expect(again.answer.error?.message).toMatch(/^unauthorized: /);
  expect((await admin.ask("health")).ok).toBe(true);
  for (const socket of sockets) await socket[Symbol.asyncDispose]();
});

test("6: the new token of a rotation works, once the old one does not", async () => {
  const { device, token, sockets } = await pair();
  const { payload } = await admin.ask("device.token.rotate", { deviceId: device.id, role: "operator" });
  const fresh = String(payload!["token"]);
  expect(fresh).not.toBe(token);
  await using renewed = await enter(gateway.url, { device, token: fresh, scopes: ["operator.read"] });
  expect((await renewed.ask("health")).ok).toBe(true);
  for (const socket of sockets) await socket[Symbol.asyncDispose]();
});

test("6: a device that revokes itself is notified and closed within a second", async () => {
  const device = createDevice();
  await using own = await enter(gateway.url, { device, token: TOKEN, scopes: ["operator.pairing"] });
  const since = performance.now();
  expect((await own.ask("device.token.revoke", { deviceId: device.id, role: "operator" })).ok).toBe(true);
  expectInTime(await closedWithin([own], since), 1000);
});

test("6: a changed shared secret closes the sockets that used it within a second; tokens of devices stay good", async () => {
  const { device, token, sockets } = await pair();
  const [withSecret, withToken] = sockets;
  gateway.place.configure(configText({ gateway: { auth: { token: "another-token-9876543210" } } }));
  await gateway.process.waitFor(/configuration changed.*gateway\.auth/);
  const since = performance.now();
  expectInTime(await closedWithin([withSecret!, admin], since), 1000);
  expect((await withToken!.ask("health")).ok).toBe(true);
  await using old = await visit(gateway.url, { token: TOKEN, scopes: ["operator.read"] });
  expect(old.answer.error?.message).toMatch(/^unauthorized: /);
  expect((await ask(gateway.url, "/v1/models", { headers: bearer(TOKEN) })).status).toBe(401);
  expect((await ask(gateway.url, "/v1/models", { headers: bearer("another-token-9876543210") })).status).toBe(200);
  await using again = await enter(gateway.url, { device, token, scopes: ["operator.read"] });
  expect((await again.ask("health")).ok).toBe(true);
  for (const socket of sockets) await socket[Symbol.asyncDispose]();
});

test("6: a secret changed over the protocol is in force at once, for its own caller too", async () => {
  const { payload } = await admin.ask("config.get");
  const raw = configText({ gateway: { auth: { token: "over-the-protocol-12345" } } });
  const since = performance.now();
  admin.send(JSON.stringify({ type: "req", id: "set", method: "config.set", params: { raw, baseHash: payload!["hash"] } }));
  expectInTime(await closedWithin([admin], since), 1000);
  expect(readFileSync(gateway.place.configPath, "utf8")).toContain("over-the-protocol-12345");
  await using old = await visit(gateway.url, { token: TOKEN, scopes: ["operator.read"] });
  expect(old.answer.ok).toBe(false);
});

test("6: a revoked device stays out after a restart", async () => {
  const { device, token, sockets } = await pair();
  await admin.ask("device.token.revoke", { deviceId: device.id, role: "operator" });
  gateway.process.child.kill("SIGKILL");
  await gateway.process.exited;
  await using second = await gateway.place.gateway();
  await using again = await visit(second.url!, { device, token, scopes: ["operator.read"] });
  expect(again.answer.error?.message).toMatch(/^unauthorized: /);
  for (const socket of sockets) await socket[Symbol.asyncDispose]();
});

test("6: login codes end with the secret that was changed, and pages are never kept", async () => {
  const made = async (): Promise<string> => String((await admin.ask("login.code")).payload!["code"]);
  const login = async (code: string) => {
    const { id, publicKey } = createDevice();
    const headers = { "content-type": "application/json", origin: gateway.url };
    return (await ask(gateway.url, "/__openclaw/login", { method: "POST", headers, body: JSON.stringify({ code, device: { id, publicKey } }) })).status;
  };
  expect(await login(await made())).toBe(200);
  const old = await made();
  gateway.place.configure(configText({ gateway: { auth: { token: "another-token-9876543210" } } }));
  expect((await admin.closed).code).toBe(1008);
  expect(await login(old)).toBe(401);
  expect((await ask(gateway.url, "/")).headers["cache-control"]).toBe("no-store");
});

test("6: codes that a device made end with the device", async () => {
  const device = createDevice();
  await using own = await enter(gateway.url, { device, token: TOKEN, scopes: ["operator.admin"] });
  const code = String((await own.ask("login.code")).payload!["code"]);
  expect((await admin.ask("device.pair.remove", { deviceId: device.id })).ok).toBe(true);
  const { id, publicKey } = createDevice();
  const headers = { "content-type": "application/json", origin: gateway.url };
  expect((await ask(gateway.url, "/__openclaw/login", { method: "POST", headers, body: JSON.stringify({ code, device: { id, publicKey } }) })).status).toBe(
    401,
  );
});
