import * as fc from "fast-check";
import { expect, test } from "vitest";
import { connectParams, createDevice, NONCE, type TestDevice } from "../harness/auth.ts";
import type { ConnectParams } from "../../src/protocol/index.ts";
import { deviceIdOf, publicKeyBytes, sameKey, verifyDevice } from "../../src/gateway/auth/devices/identity.ts";

const NOW = 1_700_000_000_000;
const FAR = { nonce: NONCE, local: false, allowUnsignedNonce: true, now: NOW };
const NEAR = { ...FAR, local: true };

type Signed = ConnectParams & { readonly device: NonNullable<ConnectParams["device"]> };
const params = (over: Partial<ConnectParams> = {}): ConnectParams =>
  connectParams({ role: "operator", scopes: ["operator.read", "operator.write"], auth: { token: "t" }, ...over });
const signed = (device: TestDevice, over: Partial<NonNullable<ConnectParams["device"]>> = {}, nonce: string | undefined = NONCE): Signed =>
  device.sign(params(), { now: NOW, nonce }, over) as Signed;

test("a device that signed this connection's challenge is believed, however its key is written", () => {
  const device = createDevice();
  const expected = { ok: true, deviceId: device.id, publicKey: device.publicKey };
  expect(verifyDevice(signed(device), FAR)).toEqual(expected);
  expect(verifyDevice(signed(device, { publicKey: device.pem }), FAR)).toEqual(expected);
  expect(verifyDevice(signed(device, { publicKey: Buffer.from(device.publicKey, "base64url").toString("base64") }), FAR)).toEqual(expected);
  expect(sameKey(device.pem, device.publicKey)).toBe(true);
});

test("without a nonce the first version of the text is signed, from this machine only", () => {
  const device = createDevice();
  const old = device.sign(params(), { now: NOW }) as Signed;
  expect(verifyDevice(old, NEAR).ok).toBe(true);
  expect(verifyDevice(old, FAR)).toEqual({ ok: false, message: "device nonce required" });
  expect(verifyDevice(old, { ...NEAR, allowUnsignedNonce: false })).toEqual({ ok: false, message: "device nonce required" });
});

const device = createDevice();
const other = createDevice();
test.each<[string, Signed, string]>([
  ["another device's id", signed(device, { id: other.id }), "device identity mismatch"],
  ["the id in capitals", signed(device, { id: device.id.toUpperCase() }), "device identity mismatch"],
  ["another device's key", signed(device, { publicKey: other.publicKey }), "device identity mismatch"],
  ["a key that is no key", signed(device, { publicKey: "not a key!" }), "device identity mismatch"],
  ["a PEM that is no key", signed(device, { publicKey: "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----" }), "device identity mismatch"],
  ["a signature of 10 minutes and 1 ms ago", signed(device, { signedAt: NOW - 600_001 }), "device signature expired"],
  ["a signature from the future", signed(device, { signedAt: NOW + 600_001 }), "device signature expired"],
  ["another connection's nonce", device.sign(params(), { now: NOW, nonce: "other" }) as Signed, "device nonce mismatch"],
  ["a signature that is none", signed(device, { signature: "AAAA" }), "device signature invalid"],
  ["a signature with junk in it", signed(device, { signature: "§§§" }), "device signature invalid"],
  ["another device's signature", signed(device, { signature: signed(other).device.signature }), "device signature invalid"],
  ["the right id of a key of the wrong size", signed(device, { id: deviceIdOf(Buffer.from("short")), publicKey: "c2hvcnQ" }), "device public key invalid"],
])("%s is refused", (_, sent, message) => {
  expect(verifyDevice(sent, FAR)).toEqual({ ok: false, message });
});

test("a clock may be off by ten minutes, not more", () => {
  const at = (now: number) => verifyDevice(device.sign(params(), { now, nonce: NONCE }) as Signed, FAR).ok;
  expect([at(NOW - 600_000), at(NOW + 600_000), at(NOW - 600_001), at(NOW + 600_001)]).toEqual([true, true, false, false]);
});

test("a signature taken from one form does not fit the other", () => {
  const old = device.sign(params(), { now: NOW }) as Signed;
  expect(verifyDevice({ ...old, device: { ...old.device, nonce: NONCE } }, NEAR)).toEqual({ ok: false, message: "device signature invalid" });
  const { nonce: _, ...withoutNonce } = signed(device).device;
  expect(verifyDevice({ ...signed(device), device: withoutNonce }, NEAR)).toEqual({ ok: false, message: "device signature invalid" });
});

test("no signed field can be changed afterwards", () => {
  const text = fc.stringMatching(/^[a-z.]{1,12}$/);
  const changes = fc.oneof(
    fc.record({ role: text }),
    fc.record({ scopes: fc.array(text, { maxLength: 4 }) }),
    fc.record({ auth: fc.record({ token: text }) }),
    fc.constant({ auth: {} }),
    fc.record({ client: fc.record({ id: fc.constantFrom("cli", "test", "node-host"), mode: fc.constantFrom("cli", "ui", "node") }) }),
    fc.record({ device: fc.record({ signedAt: fc.integer({ min: NOW - 1000, max: NOW + 1000 }) }) }),
  );
  const sent = signed(device);
  const essence = ({ role, scopes, auth, client, device: { signedAt } }: Signed): string =>
    JSON.stringify([role, scopes?.join(), auth?.token ?? "", client.id, client.mode, signedAt]);
  fc.assert(
    fc.property(changes, (change) => {
      const merged = { ...sent, ...change, client: { ...sent.client, ...("client" in change ? change.client : {}) } } as Signed;
      const altered = { ...merged, device: { ...sent.device, ...("device" in change ? change.device : {}) } };
      expect(verifyDevice(altered, FAR).ok).toBe(essence(altered) === essence(sent));
    }),
  );
});

test("flipping any bit of a signature or key breaks it", () => {
  const sent = signed(device);
  const flip = (text: string, bit: number): string => {
    const bytes = Buffer.from(text, "base64url");
    bytes[(bit >> 3) % bytes.length]! ^= 1 << (bit & 7);
    return bytes.toString("base64url");
  };
  fc.assert(
    fc.property(fc.nat(511), (bit) => {
      expect(verifyDevice({ ...sent, device: { ...sent.device, signature: flip(sent.device.signature, bit) } }, FAR).ok).toBe(false);
      const publicKey = flip(sent.device.publicKey, bit);
      expect(verifyDevice({ ...sent, device: { ...sent.device, publicKey } }, FAR)).toEqual({ ok: false, message: "device identity mismatch" });
      const id = deviceIdOf(publicKeyBytes(publicKey)!);
      expect(verifyDevice({ ...sent, device: { ...sent.device, publicKey, id } }, FAR).ok).toBe(false);
    }),
  );
});
