import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { enter, visit } from "../harness/device-client.ts";
import { ask, start, TOKEN, type Started } from "./start.ts";

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

/** Headers that say who or where somebody is. */
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
