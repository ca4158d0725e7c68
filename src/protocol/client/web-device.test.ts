import { createHash, createPublicKey, verify, type webcrypto } from "node:crypto";
import { expect, test } from "vitest";
import { loadWebDevice, storedTokens } from "./web-device.ts";

test("a browser's identity is made once and its private key cannot be read out", async () => {
  let kept: webcrypto.CryptoKeyPair | undefined;
  const store = { load: async () => kept, save: async (pair: webcrypto.CryptoKeyPair) => void (kept = pair) };
  const device = await loadWebDevice(store);
  expect(kept?.privateKey.extractable).toBe(false);
  const raw = Buffer.from(device.publicKey, "base64url");
  expect(createHash("sha256").update(raw).digest("hex")).toBe(device.id);
  const key = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x: device.publicKey }, format: "jwk" });
  expect(verify(null, Buffer.from("text ü"), key, Buffer.from(await device.sign("text ü"), "base64url"))).toBe(true);
  expect((await loadWebDevice(store)).id).toBe(device.id);
});

test("tokens are kept per device and role", () => {
  const items = new Map<string, string>();
  const tokens = storedTokens({
    getItem: (key) => items.get(key) ?? null,
    setItem: (key, value) => void items.set(key, value),
    removeItem: (key) => void items.delete(key),
  });
  void tokens.save("d1", { role: "operator", token: "t", scopes: [] });
  expect([tokens.load("d1", "operator"), tokens.load("d1", "node"), tokens.load("d2", "operator")]).toEqual(["t", undefined, undefined]);
  void tokens.forget("d1", "operator");
  expect(tokens.load("d1", "operator")).toBeUndefined();
});
