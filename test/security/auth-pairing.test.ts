import * as fc from "fast-check";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { ALL_SCOPES, connectParams, createAuthBench, createDevice, local, NONCE, remote, TOKEN, type AuthBench } from "../harness/auth.ts";
import { covers, SCOPES, type Scope } from "../../src/protocol/index.ts";

let bench: AuthBench;
beforeAll(async () => {
  bench = await createAuthBench();
});
beforeEach(() => bench.clear());
afterAll(() => bench[Symbol.asyncDispose]());

const READ = ["operator.read"];
const ADMIN = ["operator.admin"];

async function requestOf(result: ReturnType<AuthBench["connect"]>): Promise<string> {
  const answer = await result;
  expect(answer).toMatchObject({ ok: false, code: "NOT_PAIRED", message: "pairing required" });
  return String(answer.ok ? "" : answer.details?.["requestId"]);
}

async function issuedTo(result: ReturnType<AuthBench["connect"]>): Promise<string> {
  const answer = await result;
  expect(answer).toMatchObject({ ok: true });
  return answer.ok ? answer.issued!.deviceToken : "";
}

test("a device of this machine is approved without asking, and the operators hear of it", async () => {
  const device = createDevice();
  const token = await issuedTo(bench.connect(device, { scopes: READ }));
  expect(token).toMatch(/^[\w-]{43}$/);
  expect(bench.events).toEqual([
    { event: "device.pair.resolved", payload: { requestId: expect.any(String), deviceId: device.id, decision: "approved", ts: bench.clock.now() } },
  ]);
});

test("a device from elsewhere waits, and asks only once", async () => {
  const device = createDevice();
  const first = await requestOf(bench.connect(device, { scopes: READ }, remote()));
  const again = await requestOf(bench.connect(device, { scopes: ADMIN }, remote()));
  expect(again).toBe(first);
  expect(bench.events).toEqual([
    {
      event: "device.pair.requested",
      payload: {
        requestId: first,
        deviceId: device.id,
        publicKey: device.publicKey,
        platform: "linux",
        clientId: "cli",
        clientMode: "cli",
        role: "operator",
        roles: ["operator"],
        scopes: READ,
        remoteIp: "203.0.113.9",
        isRepair: false,
        ts: bench.clock.now(),
      },
    },
  ]);
  expect((await bench.auth.pairing.list()).pending).toEqual([bench.events[0]!.payload]);
});

test("a request waits five minutes", async () => {
  const device = createDevice();
  const first = await requestOf(bench.connect(device, {}, remote()));
  bench.clock.advance(299_999);
  expect((await bench.auth.pairing.list()).pending).toHaveLength(1);
  bench.clock.advance(1);
  expect((await bench.auth.pairing.list()).pending).toEqual([]);
  await expect(bench.auth.pairing.approve(first, ALL_SCOPES)).rejects.toMatchObject({ code: "INVALID_INPUT", message: "unknown requestId" });
  expect(await requestOf(bench.connect(device, {}, remote()))).not.toBe(first);
});

test("an approved device comes in with what it asked for first, and with its token alone", async () => {
  const device = createDevice();
  const requestId = await requestOf(bench.connect(device, { scopes: READ }, remote()));
  const { device: shown } = await bench.auth.pairing.approve(requestId, ALL_SCOPES);
  expect(shown).toMatchObject({ deviceId: device.id, role: "operator", roles: ["operator"], scopes: READ, tokens: [{ role: "operator", scopes: READ }] });
  const token = await issuedTo(bench.connect(device, { scopes: READ }, remote()));
  const alone = await bench.connect(device, { scopes: READ, auth: { token } }, remote());
  expect(alone).toMatchObject({ ok: true, method: "device-token", deviceId: device.id, issued: { deviceToken: token } });
  expect(JSON.stringify([shown, await bench.auth.pairing.list(), bench.events])).not.toContain(token);
});

test("a rejected device stays out and may ask again", async () => {
  const device = createDevice();
  const requestId = await requestOf(bench.connect(device, {}, remote()));
  expect(await bench.auth.pairing.reject(requestId)).toEqual({ requestId, deviceId: device.id });
  expect(bench.events.at(-1)).toMatchObject({ event: "device.pair.resolved", payload: { decision: "rejected" } });
  await expect(bench.auth.pairing.reject(requestId)).rejects.toThrow("unknown requestId");
  expect(await requestOf(bench.connect(device, {}, remote()))).not.toBe(requestId);
});

test("of a hundred approvals at once one counts", async () => {
  const requestId = await requestOf(bench.connect(createDevice(), { scopes: READ }, remote()));
  const results = await Promise.allSettled(Array.from({ length: 100 }, () => bench.auth.pairing.approve(requestId, ALL_SCOPES)));
  expect(results.filter((result) => result.status === "fulfilled")).toHaveLength(1);
  expect(bench.events.filter((event) => event.event === "device.pair.resolved")).toHaveLength(1);
});

test("of an approval and a rejection at once one counts", async () => {
  const requestId = await requestOf(bench.connect(createDevice(), {}, remote()));
  const { pairing } = bench.auth;
  const results = await Promise.allSettled([pairing.approve(requestId, ALL_SCOPES), pairing.reject(requestId)]);
  expect(results.map((result) => result.status).sort()).toEqual(["fulfilled", "rejected"]);
});

test("a hundred first connections of one device give it one token", async () => {
  const device = createDevice();
  const tokens = await Promise.all(Array.from({ length: 100 }, () => issuedTo(bench.connect(device, { scopes: READ }))));
  expect(new Set(tokens).size).toBe(1);
  expect(bench.events).toHaveLength(1);
});

test("a device that wants more asks again from elsewhere, and gets it at once on this machine", async () => {
  const device = createDevice();
  await issuedTo(bench.connect(device, { scopes: READ }));
  const requestId = await requestOf(bench.connect(device, { scopes: ADMIN }, remote()));
  expect(bench.events.at(-1)).toMatchObject({ event: "device.pair.requested", payload: { requestId, isRepair: true } });
  expect(await bench.connect(device, { scopes: ADMIN })).toMatchObject({ ok: true, scopes: new Set(ADMIN) });
  expect((await bench.auth.pairing.list()).paired).toMatchObject([{ scopes: [...READ, ...ADMIN] }]);
});

test("operator.admin covers every scope of an operator, so that a narrower client of the same device needs no second approval", async () => {
  const device = createDevice();
  const requestId = await requestOf(bench.connect(device, { scopes: ADMIN }, remote()));
  await bench.auth.pairing.approve(requestId, ALL_SCOPES);
  const token = await issuedTo(bench.connect(device, { scopes: READ }, remote()));
  for (const scope of SCOPES)
    expect(await bench.connect(device, { scopes: [scope], auth: { token } }, remote())).toMatchObject({ ok: true, scopes: new Set([scope]) });
});

test("hello-ok names the scopes that the connection was granted, not all that its token could have", async () => {
  const device = createDevice();
  await bench.auth.pairing.approve(await requestOf(bench.connect(device, { scopes: ADMIN }, remote())), ALL_SCOPES);
  const token = await issuedTo(bench.connect(device, { scopes: ADMIN }, remote()));
  const narrow = await bench.connect(device, { scopes: READ, auth: { token } }, remote());
  expect(narrow).toMatchObject({ ok: true, scopes: new Set(READ), issued: { deviceToken: token, role: "operator", scopes: READ } });
  expect((await bench.auth.pairing.list()).paired).toMatchObject([{ tokens: [{ role: "operator", scopes: ADMIN }] }]);
});

test('a device that was removed gets the reason "not paired"; one whose token was replaced gets "token mismatch"', async () => {
  const device = createDevice();
  const token = await issuedTo(bench.connect(device, { scopes: READ }));
  await bench.auth.pairing.rotate({ deviceId: device.id, role: "operator" }, ALL_SCOPES);
  const replaced = { ok: false, message: "unauthorized: device token mismatch (rotate/reissue device token)" };
  expect(await bench.connect(device, { scopes: READ, auth: { token } })).toMatchObject(replaced);
  await bench.auth.pairing.remove(device.id);
  const removed = { ok: false, message: expect.stringMatching(/^unauthorized: device token mismatch, this device is not paired; gateway token mismatch \(/) };
  expect(await bench.connect(device, { scopes: READ, auth: { token } })).toMatchObject(removed);
});

test("another role has to be approved on its own, and has its own token", async () => {
  const device = createDevice();
  const operator = await issuedTo(bench.connect(device, { scopes: ADMIN }));
  const requestId = await requestOf(bench.connect(device, { role: "node" }, remote()));
  await bench.auth.pairing.approve(requestId, ALL_SCOPES);
  const node = await issuedTo(bench.connect(device, { role: "node" }, remote()));
  expect(node).not.toBe(operator);
  const mismatch = { ok: false, message: "unauthorized: device token mismatch (rotate/reissue device token)" };
  expect(await bench.connect(device, { role: "node", auth: { token: operator } }, remote())).toMatchObject(mismatch);
  expect(await bench.connect(device, { auth: { token: node } }, remote())).toMatchObject(mismatch);
  expect((await bench.auth.pairing.list()).paired).toMatchObject([{ roles: ["operator", "node"], scopes: ADMIN }]);
});

test("what a node asked for never becomes an operator's scope", async () => {
  const device = createDevice();
  await bench.auth.pairing.approve(await requestOf(bench.connect(device, { role: "node", scopes: ADMIN }, remote())), ALL_SCOPES);
  await bench.auth.pairing.approve(await requestOf(bench.connect(device, { scopes: READ }, remote())), ALL_SCOPES);
  expect((await bench.auth.pairing.list()).paired).toMatchObject([{ roles: ["node", "operator"], scopes: READ }]);
});

test("a rotated token is worth nothing at once, and sockets that used it are named", async () => {
  const device = createDevice();
  const old = await issuedTo(bench.connect(device, { scopes: READ }));
  const rotated = await bench.auth.pairing.rotate({ deviceId: device.id, role: "operator" }, ALL_SCOPES);
  expect(rotated).toEqual({ deviceId: device.id, role: "operator", token: expect.stringMatching(/^[\w-]{43}$/), scopes: READ, rotatedAtMs: bench.clock.now() });
  expect(bench.revocations).toEqual([{ deviceId: device.id, role: "operator", cause: "rotated" }]);
  expect(await bench.connect(device, { scopes: READ, auth: { token: old } })).toMatchObject({ ok: false });
  expect(await bench.connect(device, { scopes: READ, auth: { token: rotated.token } })).toMatchObject({ ok: true });
});

test("a revoked token stays revoked until the device proves itself another way", async () => {
  const device = createDevice();
  const old = await issuedTo(bench.connect(device, { scopes: READ }));
  const revoked = await bench.auth.pairing.revoke({ deviceId: device.id, role: "operator" });
  expect(revoked).toEqual({ deviceId: device.id, role: "operator", revokedAtMs: bench.clock.now() });
  expect(bench.revocations).toEqual([{ deviceId: device.id, role: "operator", cause: "revoked" }]);
  bench.clock.advance(1000);
  expect(await bench.auth.pairing.revoke({ deviceId: device.id, role: "operator" })).toEqual(revoked);
  expect(await bench.connect(device, { scopes: READ, auth: { token: old } })).toMatchObject({ ok: false });
  expect(await issuedTo(bench.connect(device, { scopes: READ, auth: { token: TOKEN } }))).not.toBe(old);
});

test("a removed device is unknown again, with all its tokens", async () => {
  const device = createDevice();
  const token = await issuedTo(bench.connect(device, { scopes: READ }));
  expect(await bench.auth.pairing.remove(device.id)).toEqual({ deviceId: device.id });
  expect(bench.revocations).toEqual([{ deviceId: device.id, cause: "removed" }]);
  expect(await bench.connect(device, { scopes: READ, auth: { token } })).toMatchObject({ ok: false });
  await requestOf(bench.connect(device, { scopes: READ }, remote()));
  await expect(bench.auth.pairing.remove(device.id)).rejects.toThrow("unknown deviceId");
});

test("what is not there cannot be rotated or revoked", async () => {
  const device = createDevice();
  await issuedTo(bench.connect(device, { scopes: READ }));
  for (const target of [
    { deviceId: "nobody", role: "operator" },
    { deviceId: device.id, role: "node" },
    { deviceId: device.id, role: "root" },
  ]) {
    await expect(bench.auth.pairing.rotate(target, ALL_SCOPES)).rejects.toThrow("unknown deviceId/role");
    await expect(bench.auth.pairing.revoke(target)).rejects.toThrow("unknown deviceId/role");
  }
});

test("nobody approves or mints more than they have", async () => {
  const device = createDevice();
  const pairingOnly = { scopes: ["operator.pairing"] };
  const requestId = await requestOf(bench.connect(device, { scopes: ADMIN }, remote()));
  await expect(bench.auth.pairing.approve(requestId, pairingOnly)).rejects.toMatchObject({ code: "INVALID_INPUT", message: "missing scope: operator.admin" });
  await bench.auth.pairing.approve(requestId, ALL_SCOPES);
  await expect(bench.auth.pairing.rotate({ deviceId: device.id, role: "operator" }, pairingOnly)).rejects.toThrow("missing scope: operator.admin");
});

test("granted scopes are those asked for, and covered by what was approved; rotation never widens them", async () => {
  const scopes = fc.uniqueArray(fc.constantFrom(...SCOPES), { maxLength: 4 });
  const within = (outer: readonly string[], inner: readonly string[]) => inner.every((scope) => covers(outer, scope as Scope));
  await fc.assert(
    fc.asyncProperty(scopes, scopes, scopes, scopes, async (approved, minted, asked, askedWithSecret) => {
      const device = createDevice();
      await bench.auth.pairing.approve(await requestOf(bench.connect(device, { scopes: approved }, remote())), ALL_SCOPES);
      const rotated = await bench.auth.pairing.rotate({ deviceId: device.id, role: "operator", scopes: minted }, ALL_SCOPES).catch(() => undefined);
      expect(rotated !== undefined).toBe(within(approved, minted));
      if (rotated) {
        expect(rotated.scopes).toEqual(minted);
        const admitted = await bench.connect(device, { scopes: asked, auth: { token: rotated.token } }, remote());
        expect(admitted.ok).toBe(within(minted, asked));
        if (admitted.ok) expect([...admitted.scopes].every((scope) => asked.includes(scope as Scope))).toBe(true);
      }
      const withSecret = await bench.connect(device, { scopes: askedWithSecret }, remote());
      expect(withSecret.ok).toBe(within(approved, askedWithSecret));
      if (withSecret.ok) {
        expect([...withSecret.scopes].sort()).toEqual([...askedWithSecret].sort());
        expect(within(approved, withSecret.issued!.scopes)).toBe(true);
      }
      bench.clock.advance(600_000);
    }),
    { numRuns: 40 },
  );
});

test("the current token is handed out again while it covers what is asked for, also to an older client", async () => {
  const device = createDevice();
  const [wide, narrow, none] = [
    await issuedTo(bench.connect(device, { scopes: ADMIN })),
    await issuedTo(bench.connect(device, { scopes: READ })),
    await issuedTo(bench.connect(device, {})),
  ];
  expect([narrow, none]).toEqual([wide, wide]);
  expect(bench.revocations).toEqual([]);
});

test("the use of a token is noted", async () => {
  const device = createDevice();
  const token = await issuedTo(bench.connect(device, { scopes: READ }));
  bench.clock.advance(120_000);
  await issuedTo(bench.connect(device, { scopes: READ, auth: { token } }));
  const noted = async () => (await bench.auth.pairing.list()).paired[0]?.tokens?.[0]?.lastUsedAtMs;
  await expect.poll(noted).toBe(bench.clock.now());
});

test("devices and requests are still there after a restart", async () => {
  const [paired, waiting] = [createDevice(), createDevice()];
  const token = await issuedTo(bench.connect(paired, { scopes: READ }));
  const requestId = await requestOf(bench.connect(waiting, { scopes: READ }, remote()));
  const restarted = bench.restarted();
  const params = connectParams({ scopes: READ, auth: { token } });
  const admitted = await restarted.admit({ params: paired.sign(params, { now: bench.clock.now(), nonce: NONCE }), nonce: NONCE, request: remote() });
  expect(admitted).toMatchObject({ ok: true, method: "device-token" });
  expect(await restarted.pairing.approve(requestId, ALL_SCOPES)).toMatchObject({ device: { deviceId: waiting.id } });
});

test("strangers cannot fill the store with requests", async () => {
  await using open = await createAuthBench({ auth: { mode: "none" } });
  for (let n = 0; n < 505; n += 50) await Promise.all(Array.from({ length: 50 }, () => open.connect(createDevice(), {}, remote())));
  expect((await open.auth.pairing.list()).pending.length).toBeLessThanOrEqual(550);
  expect(await open.connect(createDevice(), {}, remote())).toEqual({
    ok: false,
    code: "NOT_PAIRED",
    message: "pairing required",
    closeCode: 1008,
    details: {},
  });
});

test("a device taken over from files with its key as PEM is the same device", async () => {
  const device = createDevice();
  await bench.store.commit([
    ["devices.put", { id: device.id, publicKey: device.pem, data: { role: "operator", scopes: ADMIN } }],
    ["devices.token.put", { deviceId: device.id, role: "operator", token: "imported-token", scopes: ADMIN }],
  ]);
  expect(await bench.connect(device, { scopes: ADMIN, auth: { token: "imported-token" } }, remote())).toMatchObject({
    ok: true,
    issued: { deviceToken: "imported-token" },
  });
  expect(await bench.connect(device, { scopes: READ }, local())).toMatchObject({ ok: true });
});
