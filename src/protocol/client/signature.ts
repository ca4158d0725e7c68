import type { ConnectParams } from "../connect.ts";
import type { DeviceIdentity } from "./ports.ts";

/** What a signature stands for. */
export interface SignedConnect {
  readonly clientId: string;
  readonly clientMode: string;
  readonly role: string;
  readonly scopes: readonly string[];
  /** Milliseconds since the epoch. */
  readonly signedAt: number;
  readonly token: string;
  /** Of the challenge; without one the signature is good on the gateway's own machine only. */
  readonly nonce?: string | undefined;
}

/** The text a device signs: version 2 with a nonce, version 1 without. */
export function signedText(deviceId: string, connect: SignedConnect): string {
  const { clientId, clientMode, role, scopes, signedAt, token, nonce } = connect;
  const fields = [deviceId, clientId, clientMode, role, scopes.join(","), String(signedAt), token];
  return nonce === undefined ? ["v1", ...fields].join("|") : ["v2", ...fields, nonce].join("|");
}

/** The `device` part of `connect`. */
export async function signConnect(device: DeviceIdentity, connect: SignedConnect): Promise<NonNullable<ConnectParams["device"]>> {
  const signature = await device.sign(signedText(device.id, connect));
  const { signedAt, nonce } = connect;
  return { id: device.id, publicKey: device.publicKey, signature, signedAt, ...(nonce === undefined ? {} : { nonce }) };
}
