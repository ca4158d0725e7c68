import type { DeviceIdentity, DeviceTokens } from "./ports.ts";

/** As the platform at hand declares it: browsers and Node differ. */
type Key = Parameters<typeof globalThis.crypto.subtle.sign>[1];

interface KeyPair {
  readonly privateKey: Key;
  readonly publicKey: Key;
}

/** Where a browser keeps its key pair. IndexedDB holds keys as they are, also ones that cannot be read out. */
export interface KeyStore {
  load(): Promise<KeyPair | undefined>;
  save(pair: KeyPair): Promise<void>;
}

function base64url(bytes: ArrayBuffer): string {
  const text = String.fromCharCode(...new Uint8Array(bytes));
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** The browser's own identity: made at the first use, then kept. The private key never leaves the browser. */
export async function loadWebDevice(store: KeyStore): Promise<DeviceIdentity> {
  const { subtle } = globalThis.crypto;
  let pair = await store.load();
  if (!pair) {
    pair = (await subtle.generateKey({ name: "Ed25519" }, false, ["sign", "verify"])) as unknown as KeyPair;
    await store.save(pair);
  }
  const { privateKey, publicKey } = pair;
  const raw = await subtle.exportKey("raw", publicKey);
  const hash = new Uint8Array(await subtle.digest("SHA-256", raw));
  return {
    id: Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join(""),
    publicKey: base64url(raw),
    sign: async (text) => base64url(await subtle.sign({ name: "Ed25519" }, privateKey, new TextEncoder().encode(text))),
  };
}

/** What `localStorage` is. */
export interface TextStorage {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
}

/** Device tokens in the browser's storage. */
export function storedTokens(storage: TextStorage, prefix = "openclaw.device-token"): DeviceTokens {
  const key = (deviceId: string, role: string): string => `${prefix}.${deviceId}.${role}`;
  return {
    load: (deviceId, role) => storage.getItem(key(deviceId, role)) ?? undefined,
    save: (deviceId, { role, token }) => storage.setItem(key(deviceId, role), token),
    forget: (deviceId, role) => storage.removeItem(key(deviceId, role)),
  };
}
