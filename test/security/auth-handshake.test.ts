import { afterAll, beforeAll, expect, test } from "vitest";
import { connectParams, createAuthBench, createDevice, local, NONCE, remote, requestFrom, TOKEN, type AuthBench } from "../harness/auth.ts";
import type { OpenClawConfig } from "../../src/config/index.ts";
import type { ConnectParams } from "../../src/protocol/index.ts";
import type { PeerRequest } from "../../src/gateway/auth/index.ts";

type Gateway = NonNullable<OpenClawConfig["gateway"]>;
const ADMIN = ["operator.admin"];
const UI: ConnectParams["client"] = { id: "openclaw-control-ui", mode: "webchat", version: "1", platform: "web" };
const BACKEND: ConnectParams["client"] = { id: "gateway-client", mode: "backend", version: "1", platform: "linux" };
const SAME_ORIGIN = { origin: "http://127.0.0.1:18789" };
const ORIGIN_TEXT = "origin not allowed (open the Control UI from the gateway host or allow it in gateway.controlUi.allowedOrigins)";

/** One gateway for all rows with the same settings: opening a store is the slow part. */
const benches = new Map<string, Promise<AuthBench>>();
const benchFor = (gateway: Gateway): Promise<AuthBench> => {
  const key = JSON.stringify(gateway);
  const bench = benches.get(key) ?? createAuthBench(gateway, () => ({ runSecret: "run-secret" }));
  benches.set(key, bench);
  return bench;
};
afterAll(async () => {
  for (const bench of benches.values()) await (await bench)[Symbol.asyncDispose]();
});

const TOKEN_MODE: Gateway = { auth: { token: TOKEN } };
const PASSWORD_MODE: Gateway = { auth: { password: "pw" } };
const NONE_MODE: Gateway = { auth: { mode: "none" } };
const INSECURE_UI: Gateway = { auth: { token: TOKEN }, controlUi: { allowInsecureAuth: true } };
const NO_DEVICE_UI: Gateway = { auth: { token: TOKEN }, controlUi: { dangerouslyDisableDeviceAuth: true } };

interface Row {
  readonly what: string;
  readonly gateway?: Gateway;
  readonly params?: Partial<ConnectParams>;
  readonly device?: "good" | "forged" | "none";
  readonly request?: PeerRequest;
  readonly expected: Readonly<Record<string, unknown>>;
}

const refusal = (message: string, code = "INVALID_REQUEST") => ({ ok: false, code, message, closeCode: 1008 });

const rows: readonly Row[] = [
  { what: "6: a role that does not exist", params: { role: "root" }, expected: refusal("invalid role") },
  { what: "6 comes before 7", params: { role: "root", client: UI }, request: local({ origin: "https://evil.example" }), expected: refusal("invalid role") },
  { what: "7: Control UI from a foreign page", params: { client: UI }, request: local({ origin: "https://evil.example" }), expected: refusal(ORIGIN_TEXT) },
  { what: "7: Control UI without an origin", params: { client: UI }, expected: refusal(ORIGIN_TEXT) },
  { what: "7: a foreign page that says it is the CLI", request: local({ origin: "https://evil.example" }), expected: refusal(ORIGIN_TEXT) },
  {
    what: "7: a name that its owner pointed at this machine",
    request: requestFrom("127.0.0.1", { host: "rebind.evil.example:18789", origin: "http://rebind.evil.example:18789" }),
    expected: refusal("host not allowed (use localhost or the gateway's address, or add it to gateway.controlUi.allowedOrigins)"),
  },
  { what: "7 comes before 8", params: { client: UI }, device: "none", request: local({ origin: "null" }), expected: refusal(ORIGIN_TEXT) },
  {
    what: "8: Control UI without a device, even with the right secret",
    params: { client: UI },
    device: "none",
    request: local(SAME_ORIGIN),
    expected: refusal("control ui requires HTTPS or localhost (secure context)"),
  },
  {
    what: "9: no device and a wrong token",
    params: { auth: { token: "wrong" } },
    device: "none",
    expected: refusal("unauthorized: gateway token mismatch (set gateway.remote.token to match gateway.auth.token)"),
  },
  {
    what: "9: no device and a password where a token is needed",
    params: { auth: { password: TOKEN } },
    device: "none",
    expected: refusal("unauthorized: gateway token missing (set gateway.remote.token to match gateway.auth.token)"),
  },
  { what: "10: no device and no secret", params: { auth: {} }, device: "none", expected: refusal("device identity required", "NOT_PAIRED") },
  { what: "10: no device in mode none", gateway: NONE_MODE, device: "none", expected: refusal("device identity required", "NOT_PAIRED") },
  {
    what: "10: a node without a device, even with the right secret",
    params: { role: "node" },
    device: "none",
    expected: refusal("device identity required", "NOT_PAIRED"),
  },
  { what: "15: a device that did not sign", device: "forged", expected: refusal("device signature invalid") },
  { what: "15 comes before 16", params: { auth: { token: "wrong" } }, device: "forged", expected: refusal("device signature invalid") },
  {
    what: "16: a device that was never paired and a wrong token: both are named, with what to do",
    params: { auth: { token: "wrong" } },
    expected: refusal(
      "unauthorized: device token mismatch, this device is not paired; gateway token mismatch (set gateway.remote.token to match gateway.auth.token)",
    ),
  },
  {
    what: "16: the same where a password is needed",
    gateway: PASSWORD_MODE,
    params: { auth: { token: "wrong" }, client: BACKEND },
    expected: refusal("unauthorized: device token mismatch, this device is not paired; gateway password missing (provide gateway auth password)"),
  },
  {
    what: "16: a device and no token, as the CLI",
    params: { auth: {} },
    expected: refusal("unauthorized: gateway token missing (set gateway.remote.token to match gateway.auth.token)"),
  },
  {
    what: "16: a device and no token, as the Control UI",
    params: { auth: {}, client: UI },
    request: local(SAME_ORIGIN),
    expected: refusal("unauthorized: gateway token missing (open the dashboard URL and paste the token in Control UI settings)"),
  },
  {
    what: "16: a device and no token, as another program",
    params: { auth: {}, client: BACKEND },
    expected: refusal("unauthorized: gateway token missing (provide gateway auth token)"),
  },
  {
    what: "16: a token is needed and none is configured",
    gateway: { auth: { mode: "token" } },
    params: { auth: {} },
    expected: refusal("unauthorized: gateway token not configured on gateway (set gateway.auth.token)"),
  },
  {
    what: "16: an empty token does not match a missing one",
    gateway: { auth: { mode: "token" } },
    params: { auth: { token: "" } },
    device: "none",
    expected: refusal("device identity required", "NOT_PAIRED"),
  },
  {
    what: "16: a wrong password",
    gateway: PASSWORD_MODE,
    params: { auth: { password: "wrong" } },
    expected: refusal("unauthorized: gateway password mismatch (set gateway.remote.password to match gateway.auth.password)"),
  },
  {
    what: "16: a missing password",
    gateway: PASSWORD_MODE,
    params: { auth: {}, client: BACKEND },
    expected: refusal("unauthorized: gateway password missing (provide gateway auth password)"),
  },
  {
    what: "16: the run secret from elsewhere",
    params: { auth: { token: "run-secret" } },
    device: "none",
    request: remote(),
    expected: { ok: false, code: "INVALID_REQUEST" },
  },
  {
    what: "17: an unknown device from elsewhere",
    request: remote(),
    expected: { ...refusal("pairing required", "NOT_PAIRED"), details: { requestId: expect.any(String) } },
  },

  {
    what: "a device from here with the token is in",
    params: { scopes: ADMIN },
    expected: { ok: true, role: "operator", scopes: new Set(ADMIN), method: "token" },
  },
  {
    what: "a device from here in mode none is in",
    gateway: NONE_MODE,
    params: { scopes: ADMIN },
    expected: { ok: true, scopes: new Set(ADMIN), method: "none" },
  },
  { what: "a device with the password is in", gateway: PASSWORD_MODE, params: { auth: { password: "pw" } }, expected: { ok: true, method: "password" } },
  { what: "a node has no scopes, whatever it asks for", params: { role: "node", scopes: ADMIN }, expected: { ok: true, role: "node", scopes: new Set() } },
  {
    what: "the run secret from here is as good as the token",
    params: { auth: { token: "run-secret" }, scopes: ADMIN },
    expected: { ok: true, method: "run-secret", scopes: new Set(ADMIN) },
  },
  {
    what: "without a device the right token admits with nothing",
    params: { scopes: ADMIN },
    device: "none",
    expected: { ok: true, scopes: new Set(), method: "token" },
  },
  { what: "a page of this machine is in", params: { client: UI, scopes: ADMIN }, request: local(SAME_ORIGIN), expected: { ok: true, scopes: new Set(ADMIN) } },

  {
    what: "allowInsecureAuth: the Control UI needs no device and keeps its scopes",
    gateway: INSECURE_UI,
    params: { client: UI, scopes: ADMIN },
    device: "none",
    request: remote("203.0.113.9", { origin: "http://gw.example.com:18789" }),
    expected: { ok: true, scopes: new Set(ADMIN) },
  },
  {
    what: "allowInsecureAuth: with a device and the secret there is no pairing",
    gateway: INSECURE_UI,
    params: { client: UI, scopes: ADMIN },
    request: remote("203.0.113.9", { origin: "http://gw.example.com:18789" }),
    expected: { ok: true, scopes: new Set(ADMIN) },
  },
  {
    what: "allowInsecureAuth: a wrong secret stays wrong",
    gateway: INSECURE_UI,
    params: { client: UI, auth: { token: "wrong" } },
    device: "none",
    request: local(SAME_ORIGIN),
    expected: { ok: false, message: "unauthorized: gateway token mismatch (open the dashboard URL and paste the token in Control UI settings)" },
  },
  {
    what: "allowInsecureAuth: no secret, no entry",
    gateway: INSECURE_UI,
    params: { client: UI, auth: {} },
    device: "none",
    request: local(SAME_ORIGIN),
    expected: { ok: false, message: "device identity required" },
  },
  {
    what: "allowInsecureAuth is for the Control UI alone",
    gateway: INSECURE_UI,
    params: { scopes: ADMIN },
    device: "none",
    expected: { ok: true, scopes: new Set() },
  },
  {
    what: "allowInsecureAuth: scopes that do not exist are not kept",
    gateway: INSECURE_UI,
    params: { client: UI, scopes: ["operator.read", "operator.everything"] },
    device: "none",
    request: local(SAME_ORIGIN),
    expected: { ok: true, scopes: new Set(["operator.read"]) },
  },
  {
    what: "dangerouslyDisableDeviceAuth: a device is not looked at",
    gateway: NO_DEVICE_UI,
    params: { client: UI, scopes: ADMIN },
    device: "forged",
    request: local(SAME_ORIGIN),
    expected: { ok: true, scopes: new Set(ADMIN) },
  },
  { what: "dangerouslyDisableDeviceAuth is for the Control UI alone", gateway: NO_DEVICE_UI, device: "forged", expected: refusal("device signature invalid") },
];

test.each(rows)("$what", async ({ gateway = TOKEN_MODE, params = {}, device = "good", request = local(), expected }) => {
  const { auth, clock } = await benchFor(gateway);
  const sent = connectParams({ auth: { token: TOKEN }, ...params });
  const over = device === "forged" ? { signature: Buffer.alloc(64).toString("base64url") } : {};
  const signed = device === "none" ? sent : createDevice().sign(sent, { now: clock.now(), nonce: NONCE }, over);
  expect(await auth.admit({ params: signed, nonce: NONCE, request })).toMatchObject(expected);
});

const PROXY_MODE: Gateway = {
  bind: "lan",
  trustedProxies: ["10.0.0.0/24"],
  auth: { mode: "trusted-proxy", trustedProxy: { userHeader: "X-User", requiredHeaders: ["X-Checked"], allowUsers: ["ada"] } },
};
const PROXIED = { "x-forwarded-for": "198.51.100.7", "x-user": "ada", "x-checked": "1" };

test.each([
  ["the proxy vouches for the user", "10.0.0.5", PROXIED, "pairing required"],
  ["the same headers from anyone else", "203.0.113.9", PROXIED, "unauthorized"],
  ["the same headers from this machine", "127.0.0.1", PROXIED, "unauthorized"],
  ["a user who is not on the list", "10.0.0.5", { ...PROXIED, "x-user": "eve" }, "unauthorized"],
  ["two users", "10.0.0.5", { ...PROXIED, "x-user": "ada, eve" }, "unauthorized"],
  ["no user", "10.0.0.5", { ...PROXIED, "x-user": " " }, "unauthorized"],
  ["a required header is missing", "10.0.0.5", { "x-forwarded-for": "198.51.100.7", "x-user": "ada" }, "unauthorized"],
])("trusted-proxy: %s", async (_, ip, headers, message) => {
  const { connect } = await benchFor(PROXY_MODE);
  expect(await connect(createDevice(), { auth: {} }, remote(ip, headers))).toMatchObject({ ok: false, message });
});

const SERVE: Gateway = { tailscale: { mode: "serve" }, auth: { token: TOKEN } };
const SERVED = {
  host: "gw.tail1234.ts.net",
  "tailscale-user-login": "ada@example.com",
  "x-forwarded-for": "100.64.0.9",
  "x-forwarded-proto": "https",
  "x-forwarded-host": "gw.tail1234.ts.net",
};
const { "x-forwarded-proto": _proto, ...WITHOUT_PROTO } = SERVED;
let serve: AuthBench;
beforeAll(async () => {
  serve = await createAuthBench(SERVE, () => ({ whois: async (ip) => (ip === "100.64.0.9" ? "Ada@example.com" : undefined) }));
});
afterAll(() => serve[Symbol.asyncDispose]());

test.each([
  ["an identity that Tailscale confirms still needs an approved device", "127.0.0.1", SERVED, "pairing required"],
  ["an identity of another address", "127.0.0.1", { ...SERVED, "x-forwarded-for": "100.64.0.10" }, /token missing/],
  ["another login than the address has", "127.0.0.1", { ...SERVED, "tailscale-user-login": "eve@example.com" }, /token missing/],
  ["the same headers from elsewhere", "203.0.113.9", SERVED, /token missing/],
  ["a header is missing", "127.0.0.1", WITHOUT_PROTO, /token missing/],
])("tailscale: %s", async (_, ip, headers, message) => {
  const result = await serve.connect(createDevice(), { auth: {} }, remote(ip, headers));
  expect(result).toMatchObject({ ok: false, message: typeof message === "string" ? message : expect.stringMatching(message) });
});

test("tailscale: without a device there is no entry", async () => {
  expect(await serve.connect(undefined, { auth: {} }, remote("127.0.0.1", SERVED))).toMatchObject({ ok: false, message: "device identity required" });
});

test("tailscale: an identity does not make guessing free", async () => {
  await using own = await createAuthBench(SERVE, () => ({ whois: async () => "ada@example.com" }));
  for (let n = 0; n < 10; n += 1) await own.connect(undefined, { auth: { token: `guess ${n}` } }, remote("127.0.0.1", SERVED));
  const next = await own.connect(undefined, {}, remote("127.0.0.1", SERVED));
  expect(next).toMatchObject({ ok: false, message: "unauthorized: too many failed authentication attempts (retry later)" });
});
