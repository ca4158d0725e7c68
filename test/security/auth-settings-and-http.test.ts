import { afterAll, beforeAll, expect, test } from "vitest";
import { type AuthBench, createAuthBench, createDevice, local, remote, requestFrom, TOKEN } from "../harness/auth.ts";
import type { IncomingMessage } from "node:http";
import { isRevoked, settingsFrom, type PeerRequest } from "../../src/gateway/auth/index.ts";

let bench: AuthBench;
beforeAll(async () => {
  bench = await createAuthBench(undefined, () => ({ runSecret: "run" }));
});
afterAll(() => bench[Symbol.asyncDispose]());

const bearing = (request: PeerRequest, text: string | undefined): IncomingMessage =>
  ({ ...request, headers: { ...request.headers, ...(text === undefined ? {} : { authorization: text }) } }) as IncomingMessage;

test.each([
  ["the token", `Bearer ${TOKEN}`, true],
  ["the scheme in other letters", `bEARER  ${TOKEN}`, true],
  ["the run secret from here", "Bearer run", true],
  ["a wrong token", "Bearer wrong", false],
  ["the token without a scheme", TOKEN, false],
  ["another scheme", `Basic ${TOKEN}`, false],
  ["an empty token", "Bearer ", false],
  ["nothing", undefined, false],
])("HTTP: %s", async (_, header, ok) => {
  expect(await bench.auth.bearer(bearing(local(), header))).toMatchObject(ok ? { ok } : { ok, status: 401, message: "Unauthorized" });
});

test("HTTP: in password mode the password is the bearer's text", async () => {
  await using bench = await createAuthBench({ auth: { password: "pw" } });
  expect(await bench.auth.bearer(bearing(local(), "Bearer pw"))).toMatchObject({ ok: true, method: "password" });
});

test("HTTP: a device's token does not count", async () => {
  const admitted = await bench.connect(createDevice(), { scopes: ["operator.admin"] });
  const token = admitted.ok ? admitted.issued!.deviceToken : "";
  expect(await bench.auth.bearer(bearing(local(), `Bearer ${token}`))).toMatchObject({ ok: false, status: 401 });
});

test("HTTP: foreign pages and foreign names are refused before any secret is looked at, also without one", async () => {
  await using bench = await createAuthBench({ auth: { mode: "none" } });
  expect(await bench.auth.bearer(bearing(local({ origin: "https://evil.example" }), undefined))).toMatchObject({ ok: false, status: 403 });
  const rebound = requestFrom("127.0.0.1", { host: "rebind.evil.example" });
  expect(await bench.auth.bearer(bearing(rebound, undefined))).toMatchObject({ ok: false, status: 403 });
  expect(bench.auth.checkHost(rebound)).toMatchObject({ ok: false, status: 403 });
  expect(bench.auth.checkHost(local())).toEqual({ ok: true });
  expect(await bench.auth.bearer(bearing(local(), undefined))).toMatchObject({ ok: true, method: "none" });
});

test("HTTP: a client that is locked out learns when to come back", async () => {
  for (let n = 0; n < 10; n += 1) await bench.auth.bearer(bearing(remote(), "Bearer guess"));
  expect(await bench.auth.bearer(bearing(remote(), `Bearer ${TOKEN}`))).toMatchObject({ ok: false, status: 429, retryAfterMs: 300_000 });
  expect(await bench.auth.bearer(bearing(local(), `Bearer ${TOKEN}`))).toMatchObject({ ok: true });
});

test("a changed token closes the sockets that used the old one, and only those", async () => {
  await using bench = await createAuthBench();
  await bench.connect(createDevice());
  await bench.auth.update(settingsFrom({ gateway: { auth: { token: TOKEN } } }, {}));
  expect(bench.revocations).toEqual([]);
  await bench.auth.update(settingsFrom({ gateway: { auth: { token: "another" } } }, {}));
  expect(bench.revocations).toEqual([{ sharedSecret: true, methods: ["token"] }]);
  const [revocation] = bench.revocations;
  const closes = (method: "token" | "password" | "device-token" | "run-secret") => isRevoked(revocation!, { method, role: "operator" });
  expect([closes("token"), closes("device-token"), closes("run-secret")]).toEqual([true, false, false]);
  expect(await bench.connect(createDevice())).toMatchObject({ ok: false });
  expect(await bench.connect(createDevice(), { auth: { token: "another" } })).toMatchObject({ ok: true });
});

test("leaving mode none, or another proxy rule, closes what came in by it", async () => {
  await using bench = await createAuthBench({ auth: { mode: "none" } });
  await bench.connect(createDevice());
  const proxied = { bind: "lan", trustedProxies: ["10.0.0.1"], auth: { mode: "trusted-proxy", trustedProxy: { userHeader: "x-user" } } } as const;
  await bench.auth.update(settingsFrom({ gateway: { ...proxied, trustedProxies: ["10.0.0.1"] } }, {}));
  await bench.auth.update(settingsFrom({ gateway: { ...proxied, trustedProxies: ["10.0.0.2"] } }, {}));
  expect(bench.revocations).toEqual([
    { sharedSecret: true, methods: ["none"] },
    { sharedSecret: true, methods: ["trusted-proxy"] },
  ]);
  expect(bench.auth.mode).toBe("trusted-proxy");
});

test("a secret that is only referred to is fetched before anybody is let in", async () => {
  const fetched = Promise.withResolvers<string>();
  await using bench = await createAuthBench({ auth: { token: { source: "env", id: "T" } } }, () => ({ resolveSecret: () => fetched.promise }));
  const early = bench.connect(createDevice());
  fetched.resolve(TOKEN);
  expect(await early).toMatchObject({ ok: true, method: "token" });
});

test("a secret that cannot be fetched lets nobody in; one that was in use stays", async () => {
  const secrets = [() => Promise.resolve(TOKEN), () => Promise.reject(new Error("gone")), () => Promise.reject(new Error("gone"))];
  await using bench = await createAuthBench({ auth: { token: { source: "env", id: "A" } } }, () => ({ resolveSecret: () => secrets.shift()!() }));
  expect(await bench.connect(createDevice())).toMatchObject({ ok: true });
  await bench.auth.update();
  expect(await bench.connect(createDevice())).toMatchObject({ ok: true });
  await bench.auth.update(settingsFrom({ gateway: { auth: { token: { source: "env", id: "B" } } } }, {}));
  expect(await bench.connect(undefined, { auth: { token: TOKEN } })).toMatchObject({ message: expect.stringContaining("not configured on gateway") });
});

test("a secret changed while a handshake runs is not outrun by it", async () => {
  const [reached, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  await using own = await createAuthBench(undefined, (store) => ({
    store: {
      ...store,
      read: async (kind, input) => {
        reached.resolve();
        await release.promise;
        return store.read(kind, input);
      },
    },
  }));
  const running = own.connect(createDevice());
  await reached.promise;
  await own.auth.update(settingsFrom({ gateway: { auth: { token: "another" } } }, {}));
  release.resolve();
  expect(await running).toMatchObject({ ok: false, message: "unauthorized" });
});

test.each([
  [{ deviceId: "d", cause: "removed" }, "token", true],
  [{ deviceId: "d", cause: "removed" }, "device-token", true],
  [{ deviceId: "other", cause: "removed" }, "token", false],
  [{ deviceId: "d", role: "operator", cause: "revoked" }, "token", true],
  [{ deviceId: "d", role: "node", cause: "revoked" }, "token", false],
  [{ deviceId: "d", role: "operator", cause: "rotated" }, "device-token", true],
  [{ deviceId: "d", role: "operator", cause: "rotated" }, "token", false],
  [{ deviceId: "d", cause: "removed", except: "me" }, "token", false],
  [{ deviceId: "d", cause: "removed", except: "you" }, "token", true],
  [{ deviceId: "d", cause: "removed", only: "me" }, "token", true],
  [{ deviceId: "d", cause: "removed", only: "you" }, "token", false],
] as const)("%j reaches a socket that came in by %s: %s", (revocation, method, expected) => {
  expect(isRevoked(revocation, { connId: "me", deviceId: "d", role: "operator", method })).toBe(expected);
});
