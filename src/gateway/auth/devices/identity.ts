import { isRecord } from "../../../base/records.ts";
import { createHash, createPublicKey, verify, type KeyObject } from "node:crypto";
import type { ConnectParams } from "../../../protocol/index.ts";

/** How far the device's clock may be off. */
export const MAX_SKEW_MS = 600_000;

/** Everything of a raw ed25519 key's SPKI form that comes before its 32 bytes. */
const SPKI_PREFIX = Buffer.from("302a300506032b6570032100", "hex");

const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/;

/** Bytes of a key given as base64 of either alphabet or as PEM; undefined when it is neither. Raw ed25519 keys have 32. */
export function publicKeyBytes(text: string): Buffer | undefined {
  if (!text.includes("-----BEGIN")) return BASE64.test(text) ? Buffer.from(text, "base64url") : undefined;
  try {
    const { kty, crv, x } = createPublicKey(text).export({ format: "jwk" });
    return kty === "OKP" && crv === "Ed25519" && x !== undefined ? Buffer.from(x, "base64url") : undefined;
  } catch {
    return undefined;
  }
}

/** True when two texts are the same key, however they are written. */
export function sameKey(a: string, b: string): boolean {
  const [first, second] = [publicKeyBytes(a), publicKeyBytes(b)];
  return first !== undefined && second !== undefined && first.equals(second);
}

/** A device's id: the hash of its key. */
export function deviceIdOf(key: Uint8Array): string {
  return createHash("sha256").update(key).digest("hex");
}

/** The key of a device that says who it is and proves it later; undefined when it is no key, or another device's. */
export function deviceKey(device: unknown): { readonly deviceId: string; /** In its one spelling. */ readonly publicKey: string } | undefined {
  const { id, publicKey } = isRecord(device) ? device : {};
  if (typeof id !== "string" || typeof publicKey !== "string") return undefined;
  const bytes = publicKeyBytes(publicKey);
  if (!bytes || !keyObject(bytes) || deviceIdOf(bytes) !== id) return undefined;
  return { deviceId: id, publicKey: bytes.toString("base64url") };
}

export interface SignedFields {
  readonly deviceId: string;
  readonly clientId: string;
  readonly clientMode: string;
  readonly role: string;
  readonly scopes: readonly string[];
  readonly signedAt: number;
  readonly token: string;
  readonly nonce?: string | undefined;
}

/** The text a device signs: version 2 with the challenge's nonce, version 1 without. */
export function signaturePayload({ deviceId, clientId, clientMode, role, scopes, signedAt, token, nonce }: SignedFields): string {
  const fields = [deviceId, clientId, clientMode, role, scopes.join(","), String(signedAt), token];
  return nonce === undefined ? ["v1", ...fields].join("|") : ["v2", ...fields, nonce].join("|");
}

function keyObject(bytes: Buffer): KeyObject | undefined {
  if (bytes.length !== 32) return undefined;
  try {
    return createPublicKey({ key: Buffer.concat([SPKI_PREFIX, bytes]), format: "der", type: "spki" });
  } catch {
    return undefined;
  }
}

function signatureFits(key: KeyObject, payload: string, signature: string): boolean {
  if (!BASE64.test(signature)) return false;
  try {
    return verify(null, Buffer.from(payload, "utf8"), key, Buffer.from(signature, "base64url"));
  } catch {
    return false;
  }
}

export interface DeviceContext {
  /** Of this connection's challenge. */
  readonly nonce: string;
  readonly local: boolean;
  /** `gateway.auth.allowUnsignedNonce`: a signature of version 1 counts where `local` is true. */
  readonly allowUnsignedNonce: boolean;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

export type DeviceVerdict =
  | { readonly ok: true; readonly deviceId: string; /** In its one spelling: base64url of the raw bytes. */ readonly publicKey: string }
  | { readonly ok: false; readonly message: string };

/** Checks 11 to 15: that the connecting client holds the device's key, now, for this connection and these fields. */
export function verifyDevice(params: ConnectParams & { readonly device: NonNullable<ConnectParams["device"]> }, context: DeviceContext): DeviceVerdict {
  const { device } = params;
  const failed = (message: string): DeviceVerdict => ({ ok: false, message });
  const bytes = publicKeyBytes(device.publicKey);
  if (!bytes || deviceIdOf(bytes) !== device.id) return failed("device identity mismatch");
  if (Math.abs(context.now - device.signedAt) > MAX_SKEW_MS) return failed("device signature expired");
  if (device.nonce === undefined && !(context.local && context.allowUnsignedNonce)) return failed("device nonce required");
  if (device.nonce !== undefined && device.nonce !== context.nonce) return failed("device nonce mismatch");
  const key = keyObject(bytes);
  if (!key) return failed("device public key invalid");
  const payload = signaturePayload({
    deviceId: device.id,
    clientId: params.client.id,
    clientMode: params.client.mode,
    role: params.role ?? "operator",
    scopes: params.scopes ?? [],
    signedAt: device.signedAt,
    token: params.auth?.token ?? "",
    nonce: device.nonce,
  });
  if (!signatureFits(key, payload, device.signature)) return failed("device signature invalid");
  return { ok: true, deviceId: device.id, publicKey: bytes.toString("base64url") };
}
