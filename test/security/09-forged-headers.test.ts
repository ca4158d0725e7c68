import { chmodSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { enter, visit } from "../harness/device-client.ts";
import { ask, bearer, start, TOKEN, type Started } from "./start.ts";

const USER = "x-auth-user";
/** Lockouts are another class. */
const auth = { token: TOKEN, rateLimit: { maxAttempts: 10_000 } };
let plain: Started;
let proxied: Started;
let elsewhere: Started;
beforeAll(async () => {
  [plain, proxied, elsewhere] = await Promise.all([
    start({ gateway: { auth } }),
    start({ gateway: { auth, trustedProxies: ["127.0.0.1"] } }),
    start({ gateway: { auth, trustedProxies: ["10.0.0.1"] } }),
  ]);
});
afterAll(async () => {
  for (const gateway of [plain, proxied, elsewhere]) await gateway[Symbol.asyncDispose]();
});

/** Headers that say who or where a client is. */
const CLAIMS: readonly Record<string, string>[] = [
  { "x-forwarded-for": "127.0.0.1" },
  { "x-forwarded-for": "::1" },
  { "x-forwarded-for": "127.0.0.1, 203.0.113.9" },
  { "x-real-ip": "127.0.0.1" },
  { "x-forwarded-host": "localhost" },
  { forwarded: 'for=127.0.0.1;host="localhost"' },
  { "cf-connecting-ip": "127.0.0.1" },
  { "x-forwarded-proto": "https", "x-forwarded-for": "127.0.0.1", "x-forwarded-host": "localhost" },
  { "tailscale-user-login": "owner@example.com", "x-forwarded-for": "100.64.0.1", "x-forwarded-proto": "https", "x-forwarded-host": "gw.tailnet.ts.net" },
  { [USER]: "owner", "x-forwarded-user": "owner", "remote-user": "owner", "x-forwarded-for": "127.0.0.1" },
];

test.each(CLAIMS.map((headers) => ({ headers, name: JSON.stringify(headers) })))("9: $name opens nothing without a secret", async ({ headers }) => {
  for (const { url } of [plain, proxied, elsewhere]) {
    await using client = await visit(url, { scopes: ["operator.admin"], options: { headers } });
    expect(client.answer.ok).toBe(false);
    expect(client.answer.error?.message).toMatch(/^unauthorized/);
    expect((await ask(url, "/v1/models", { headers })).status).toBe(401);
    expect((await ask(url, "/health", { headers })).body).toBe('{"ok":true,"status":"ok"}');
  }
});

test.each(CLAIMS.map((headers) => ({ headers, name: JSON.stringify(headers) })))(
  "9: $name from who is no trusted proxy makes nobody local",
  async ({ headers }) => {
    for (const { url } of [plain, elsewhere]) {
      await using client = await visit(url, { token: TOKEN, scopes: ["operator.admin"], options: { headers } });
      expect(client.answer.error).toMatchObject({ code: "NOT_PAIRED", message: "pairing required" });
    }
  },
);

test("9: a trusted proxy is believed about the last address only, and names that are no address make nobody local", async () => {
  const far = ["203.0.113.9", "127.0.0.1, 203.0.113.9", "garbage", "", "127.0.0.1, garbage", "127.0.0.1:80, 203.0.113.9:80", "localhost", "0x7f000001x"];
  for (const list of far) {
    await using client = await visit(proxied.url, { token: TOKEN, scopes: ["operator.admin"], options: { headers: { "x-forwarded-for": list } } });
    expect([list, client.answer.error?.message]).toEqual([list, "pairing required"]);
  }
  await using near = await enter(proxied.url, { token: TOKEN, scopes: ["operator.read"], options: { headers: { "x-forwarded-for": "127.0.0.1" } } });
  expect(near.answer.ok).toBe(true);
});

test("9: where nobody but this machine can reach it, headers of a proxy are no way to log in: it does not start", async () => {
  for (const trustedProxies of [["127.0.0.1"], ["10.0.0.1"], []]) {
    const config = { gateway: { bind: "loopback", trustedProxies, auth: { mode: "trusted-proxy", trustedProxy: { userHeader: USER } } } };
    await expect(start(config)).rejects.toThrow("gateway.auth.mode");
  }
});

test("9: the run secret of the lock file is good from this machine only", async () => {
  const text = readFileSync(join(plain.place.stateDir, "gateway.lock"), "utf8");
  const secret = /"runSecret": ?"([0-9a-f]{64})"/.exec(text)?.[1];
  expect(secret).toBeDefined();
  await using local = await enter(plain.url, { token: secret, scopes: ["operator.read"] });
  expect(local.answer.ok).toBe(true);
  for (const headers of CLAIMS) {
    await using client = await visit(plain.url, { token: secret, scopes: ["operator.read"], options: { headers } });
    expect(client.answer.error?.message).toMatch(/^unauthorized/);
  }
});

test("9: failures count against who is really there, whatever addresses are claimed", async () => {
  const few = { token: TOKEN, rateLimit: { maxAttempts: 3 } };
  await using unknown = await start({ gateway: { auth: few } });
  await using trusting = await start({ gateway: { auth: few, trustedProxies: ["127.0.0.1"] } });
  const guess = async ({ url }: Started, list: string, token = "guess"): Promise<number> =>
    (await ask(url, "/v1/models", { headers: { ...bearer(token), "x-forwarded-for": list } })).status;
  for (let n = 1; n <= 3; n += 1) {
    expect(await guess(unknown, `198.51.100.${n}`)).toBe(401);
    // Before the last address a client writes what it likes.
    expect(await guess(trusting, `198.51.100.${n}, 203.0.113.50`)).toBe(401);
  }
  expect(await guess(unknown, "198.51.100.99", TOKEN)).toBe(429);
  expect(await guess(trusting, "198.51.100.99, 203.0.113.50", TOKEN)).toBe(429);
  expect(await guess(trusting, "203.0.113.50, 203.0.113.51", TOKEN)).toBe(200);
});

test("9: where proxies name the user, the header counts from a proxy that is trusted and from nobody else", async () => {
  const gatewayWith = (trustedProxies: string[]) =>
    start({ gateway: { bind: "lan", trustedProxies, auth: { mode: "trusted-proxy", trustedProxy: { userHeader: USER, allowUsers: ["owner"] } } } });
  await using far = await gatewayWith(["10.0.0.1"]);
  await using near = await gatewayWith(["127.0.0.1"]);
  const asked = async ({ url }: Started, user: string): Promise<number> => (await ask(url, "/v1/models", { headers: { [USER]: user } })).status;
  expect([await asked(far, "owner"), await asked(near, "owner"), await asked(near, "other")]).toEqual([401, 200, 401]);
});

test("9: a Tailscale login is believed when Tailscale itself says so, and no other", async () => {
  const bin = mkdtempSync(join(tmpdir(), "tailscale-"));
  writeFileSync(join(bin, "tailscale"), `#!/bin/sh\necho '{"UserProfile":{"LoginName":"ada@example.com"}}'\n`);
  chmodSync(join(bin, "tailscale"), 0o755);
  await using served = await start({ gateway: { auth: { ...auth, allowTailscale: true } } }, { env: { PATH: `${bin}:${process.env["PATH"]}` } });
  const claim = { "x-forwarded-for": "100.64.0.9", "x-forwarded-proto": "https", "x-forwarded-host": "gw.tailnet.ts.net" };
  const answerTo = async (login: string): Promise<string | undefined> => {
    await using client = await visit(served.url, { scopes: ["operator.admin"], options: { headers: { ...claim, "tailscale-user-login": login } } });
    return client.answer.error?.message;
  };
  // Who is proved still has to be paired.
  expect([await answerTo("owner@example.com"), await answerTo("ada@example.com")]).toEqual([expect.stringMatching(/^unauthorized/), "pairing required"]);
});
