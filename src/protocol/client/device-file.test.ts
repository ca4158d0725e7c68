import { createHash, createPublicKey, verify } from "node:crypto";
import { mkdtempSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { fileTokens, loadDeviceFile } from "./device-file.ts";

let stateDir: string;
beforeEach(() => {
  stateDir = mkdtempSync(join(tmpdir(), "openclaw-identity-"));
});

test("an identity is made once, for its owner's eyes only, and signs what the gateway can check", async () => {
  const device = loadDeviceFile(stateDir, 1_700_000_000_000);
  const path = join(stateDir, "identity", "device.json");
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(JSON.parse(readFileSync(path, "utf8"))).toMatchObject({ version: 1, deviceId: device.id, createdAtMs: 1_700_000_000_000 });
  const raw = Buffer.from(device.publicKey, "base64url");
  expect([raw.length, createHash("sha256").update(raw).digest("hex")]).toEqual([32, device.id]);
  const key = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x: device.publicKey }, format: "jwk" });
  expect(verify(null, Buffer.from("text ü"), key, Buffer.from(await device.sign("text ü"), "base64url"))).toBe(true);
  expect(loadDeviceFile(stateDir, 0)).toMatchObject({ id: device.id, publicKey: device.publicKey });
});

test("a damaged identity is not replaced behind the user's back", () => {
  loadDeviceFile(stateDir, 0);
  const path = join(stateDir, "identity", "device.json");
  writeFileSync(path, '{"version":1,"privateKeyPem":"nothing"}');
  expect(() => loadDeviceFile(stateDir, 0)).toThrow(/device\.json contains no device identity; remove it/);
});

test("tokens are kept per role, for this identity only, and forgotten one by one", () => {
  const tokens = fileTokens(stateDir, () => 5);
  expect(tokens.load("d1", "operator")).toBeUndefined();
  void tokens.save("d1", { role: "operator", token: "t1", scopes: ["operator.admin"] });
  void tokens.save("d1", { role: "node", token: "t2", scopes: [] });
  const path = join(stateDir, "identity", "device-auth.json");
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect([tokens.load("d1", "operator"), tokens.load("d1", "node"), tokens.load("d2", "operator")]).toEqual(["t1", "t2", undefined]);
  void tokens.forget("d1", "operator");
  expect([tokens.load("d1", "operator"), tokens.load("d1", "node")]).toEqual([undefined, "t2"]);
});

test("a token that did not change is not written again", () => {
  const tokens = fileTokens(stateDir, () => 5);
  void tokens.save("d1", { role: "operator", token: "t1", scopes: [] });
  const path = join(stateDir, "identity", "device-auth.json");
  const before = statSync(path).ino;
  void tokens.save("d1", { role: "operator", token: "t1", scopes: [] });
  expect(statSync(path).ino).toBe(before);
});
