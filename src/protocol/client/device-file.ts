import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, sign, type KeyObject } from "node:crypto";
import { linkSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { AppError, fileError, systemCode } from "../../base/errors.ts";
import { ensureFolder, writeAtomic } from "../../base/files.ts";
import type { DeviceIdentity, DeviceTokens } from "./ports.ts";

interface DeviceFile {
  readonly version: 1;
  readonly deviceId: string;
  readonly publicKeyPem: string;
  readonly privateKeyPem: string;
  readonly createdAtMs: number;
}

interface TokensFile {
  readonly version: 1;
  readonly deviceId: string;
  readonly tokens: Readonly<
    Record<string, { readonly token: string; readonly role: string; readonly scopes: readonly string[]; readonly updatedAtMs: number }>
  >;
}

/** Names the temporary file of a write; another process may write at the same time. */
const beside = (path: string): string => `${path}.${process.pid}.new`;

function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    if (systemCode(error) === "ENOENT") return undefined;
    if (error instanceof SyntaxError) return undefined;
    throw fileError(path, "could not read", error);
  }
}

const rawKey = (key: KeyObject): Buffer => Buffer.from(String(key.export({ format: "jwk" }).x), "base64url");

function identityOf(privateKey: KeyObject): DeviceIdentity {
  const raw = rawKey(createPublicKey(privateKey));
  return {
    id: createHash("sha256").update(raw).digest("hex"),
    publicKey: raw.toString("base64url"),
    sign: (text) => sign(null, Buffer.from(text, "utf8"), privateKey).toString("base64url"),
  };
}

function parseDevice(path: string, found: unknown): DeviceIdentity {
  try {
    return identityOf(createPrivateKey((found as DeviceFile).privateKeyPem));
  } catch (error) {
    throw new AppError("INVALID_INPUT", `${path} contains no device identity; remove it to create a new one (which must be paired again)`, { cause: error });
  }
}

function makeDevice(now: number): DeviceFile {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  return {
    version: 1,
    deviceId: identityOf(privateKey).id,
    publicKeyPem: publicKey.export({ type: "spki", format: "pem" }),
    privateKeyPem: privateKey.export({ type: "pkcs8", format: "pem" }),
    createdAtMs: now,
  };
}

/** This machine's identity in a state folder: `identity/device.json`, made at the first use. Of two programs that make it at once one wins, for both. */
export function loadDeviceFile(stateDir: string, now: number): DeviceIdentity {
  const path = join(stateDir, "identity", "device.json");
  const found = readJson(path);
  if (found !== undefined) return parseDevice(path, found);
  ensureFolder(join(stateDir, "identity"));
  const temporary = beside(path);
  try {
    writeFileSync(temporary, `${JSON.stringify(makeDevice(now), undefined, 2)}\n`, { mode: 0o600 });
    linkSync(temporary, path);
  } catch (error) {
    if (systemCode(error) !== "EEXIST") throw fileError(path, "could not store the device identity", error);
  } finally {
    rmSync(temporary, { force: true });
  }
  return parseDevice(path, readJson(path));
}

/** Device tokens in a state folder: `identity/device-auth.json`, one per role. Tokens of another identity count as none. */
export function fileTokens(stateDir: string, now: () => number): DeviceTokens {
  const path = join(stateDir, "identity", "device-auth.json");
  function tokensOf(deviceId: string): TokensFile["tokens"] {
    const found = readJson(path) as Partial<TokensFile> | undefined;
    return found?.deviceId === deviceId && typeof found.tokens === "object" ? found.tokens : {};
  }
  function write(deviceId: string, tokens: TokensFile["tokens"]): void {
    ensureFolder(join(stateDir, "identity"));
    const content: TokensFile = { version: 1, deviceId, tokens };
    writeAtomic(path, `${JSON.stringify(content, undefined, 2)}\n`, { mode: 0o600, temporary: beside(path) });
  }
  return {
    load: (deviceId, role) => tokensOf(deviceId)[role]?.token,
    save(deviceId, { role, token, scopes }) {
      const tokens = tokensOf(deviceId);
      if (tokens[role]?.token !== token) write(deviceId, { ...tokens, [role]: { token, role, scopes, updatedAtMs: now() } });
    },
    forget(deviceId, role) {
      const { [role]: gone, ...rest } = tokensOf(deviceId);
      if (gone) write(deviceId, rest);
    },
  };
}
