import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { ConnectParams } from "../../src/protocol/index.ts";
import { ALL_SCOPES, connectParams, createAuthBench, createDevice, local, NONCE, remote, requestFrom, TOKEN, type AuthBench } from "../harness/auth.ts";

let bench: AuthBench;
beforeAll(async () => {
  bench = await createAuthBench();
});
beforeEach(() => bench.clear());
afterAll(() => bench[Symbol.asyncDispose]());

const READ = ["operator.read"];
const GARBAGE: readonly ConnectParams["auth"][] = [
  { token: "garbage" },
  { token: "" },
  { token: " " },
  { password: "garbage" },
  { token: "undefined" },
  { token: "null" },
  {},
  undefined,
];

test.each(GARBAGE.map((auth) => [auth]))("%j lets nobody past the device check", async (auth) => {
  const { clock } = bench;
  for (const device of [undefined, createDevice()]) {
    const params = { ...connectParams({ scopes: ["operator.admin"] }), ...(auth ? { auth } : {}) };
    const sent = device ? device.sign(params, { now: clock.now(), nonce: NONCE }) : params;
    expect((await bench.auth.admit({ params: sent, nonce: NONCE, request: local() })).ok).toBe(false);
  }
  expect((await bench.auth.pairing.list()).paired).toEqual([]);
});

test("a good token does not stand in for a device's signature", async () => {
  const { clock } = bench;
  const forged = createDevice().sign(connectParams({ auth: { token: TOKEN } }), { now: clock.now(), nonce: "another connection" });
  expect(await bench.auth.admit({ params: forged, nonce: NONCE, request: local() })).toMatchObject({ ok: false, message: "device nonce mismatch" });
});

test("a handshake that was overheard does not open a second connection", async () => {
  const device = createDevice();
  const heard = device.sign(connectParams({ auth: { token: TOKEN }, scopes: READ }), { now: bench.clock.now(), nonce: NONCE });
  expect((await bench.auth.admit({ params: heard, nonce: NONCE, request: local() })).ok).toBe(true);
  expect(await bench.auth.admit({ params: heard, nonce: "the next one", request: local() })).toMatchObject({ ok: false, message: "device nonce mismatch" });
});

test.each([
  ["a foreign page", local({ origin: "https://evil.example" })],
  ["a sandboxed page", local({ origin: "null" })],
  ["a foreign name that points here", requestFrom("127.0.0.1", { host: "rebind.evil.example:18789", origin: "http://rebind.evil.example:18789" })],
])("%s on this machine is never approved silently", async (_, request) => {
  for (const client of [
    { id: "cli", mode: "cli" },
    { id: "openclaw-control-ui", mode: "webchat" },
  ] as const) {
    const answer = await bench.connect(createDevice(), { client: { ...client, version: "1", platform: "web" }, scopes: ["operator.admin"] }, request);
    expect(answer.ok).toBe(false);
  }
  expect((await bench.auth.pairing.list()).paired).toEqual([]);
});

test.each(["x-forwarded-for", "x-real-ip", "x-forwarded-host", "forwarded"])("a forged %s makes nobody local", async (name) => {
  for (const ip of ["203.0.113.9", "127.0.0.1"]) {
    const request = requestFrom(ip, { host: "localhost", [name]: "127.0.0.1" });
    expect(await bench.connect(createDevice(), {}, request)).toMatchObject({ ok: false, message: "pairing required" });
  }
});

test("of a hundred redemptions of one request one succeeds, and one token is left", async () => {
  const device = createDevice();
  const refused = await bench.connect(device, { scopes: READ }, remote());
  const requestId = String(refused.ok ? "" : refused.details?.["requestId"]);
  const results = await Promise.allSettled(Array.from({ length: 100 }, () => bench.auth.pairing.approve(requestId, ALL_SCOPES)));
  expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  const tokens = await bench.store.read("devices.tokens", { deviceId: device.id });
  expect(tokens).toMatchObject([{ rotatedAt: null, revokedAt: null }]);
});

test("the token of a device and role opens that device and role only", async () => {
  const [ada, eve] = [createDevice(), createDevice()];
  const tokens = new Map<string, string>();
  for (const [name, device] of [
    ["ada", ada],
    ["eve", eve],
  ] as const) {
    for (const role of ["operator", "node"]) {
      const admitted = await bench.connect(device, { role });
      tokens.set(`${name} ${role}`, admitted.ok ? admitted.issued!.deviceToken : "");
    }
  }
  expect(new Set(tokens.values()).size).toBe(4);
  for (const [owner, token] of tokens) {
    for (const [name, device] of [
      ["ada", ada],
      ["eve", eve],
    ] as const) {
      for (const role of ["operator", "node"]) {
        const answer = await bench.connect(device, { role, auth: { token } });
        expect([owner, name, role, answer.ok]).toEqual([owner, name, role, owner === `${name} ${role}`]);
      }
    }
  }
});

test("a rotated token fails at once, and again when it is tried side by side with its rotation", async () => {
  const device = createDevice();
  const admitted = await bench.connect(device, { scopes: READ });
  const old = admitted.ok ? admitted.issued!.deviceToken : "";
  const [rotated, ...during] = await Promise.all([
    bench.auth.pairing.rotate({ deviceId: device.id, role: "operator" }, ALL_SCOPES),
    ...Array.from({ length: 20 }, () => bench.connect(device, { scopes: READ, auth: { token: old } })),
  ]);
  // A client that was let in with the old token came before it was replaced, and is notified of the revocation like every open socket.
  for (const answer of during) if (answer.ok) expect(answer.issued!.deviceToken).toBe(old);
  expect((await bench.connect(device, { scopes: READ, auth: { token: old } })).ok).toBe(false);
  expect((await bench.connect(device, { scopes: READ, auth: { token: rotated.token } })).ok).toBe(true);
  expect(bench.revocations).toContainEqual({ deviceId: device.id, role: "operator", cause: "rotated" });
});
