import type { NoInput } from "./input.ts";

export interface DeviceRow {
  readonly id: string;
  readonly publicKey: string;
  readonly createdAt: number;
  readonly approvedAt: number;
  /** Name, platform, roles, scopes, … */
  readonly data: unknown;
}

export interface DeviceTokenRow {
  readonly deviceId: string;
  readonly role: string;
  readonly token: string;
  readonly scopes: readonly string[];
  readonly createdAt: number;
  readonly rotatedAt: number | null;
  readonly revokedAt: number | null;
  readonly lastUsedAt: number | null;
}

/** Somebody who asks to be let in: a device, a node, or a sender of a channel. One request per subject. */
export interface PairingRow {
  readonly id: string;
  readonly kind: string;
  /** Device id, node id, or `<channel>:<account>:<sender>`. */
  readonly subject: string;
  readonly code: string | null;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly data: unknown;
}

export interface AllowRow {
  readonly channel: string;
  readonly account: string;
  readonly sender: string;
  /** `pairing`, `command`, `import`, … */
  readonly source: string;
  readonly addedAt: number;
}

export interface DevicesWrites {
  /** Writes a device; creation time is kept, approval time is now. */
  "devices.put": {
    /** Without a time it is approved now. */
    input: { readonly id: string; readonly publicKey: string; readonly data: unknown; readonly approvedAt?: number | undefined };
    result: void;
  };
  /** Takes a device away with its tokens. */
  "devices.delete": { input: { readonly id: string }; result: { readonly deleted: boolean } };
  /** Writes the token of a role: a replaced one is rotated, a revoked one lives again. */
  "devices.token.put": {
    input: { readonly deviceId: string; readonly role: string; readonly token: string; readonly scopes: readonly string[] };
    result: DeviceTokenRow;
  };
  "devices.token.revoke": { input: { readonly deviceId: string; readonly role: string }; result: { readonly revoked: boolean } };
  "devices.token.used": { input: { readonly deviceId: string; readonly role: string }; result: void };
  /** Asks for pairing. While an earlier request of the same subject lives, that one is returned and nothing changes. */
  "pairing.request": {
    input: {
      readonly id: string;
      readonly kind: string;
      readonly subject: string;
      readonly expiresAt: number;
      readonly data: unknown;
      readonly code?: string | undefined;
    };
    result: { readonly created: boolean; readonly request: PairingRow };
  };
  /** Takes a request away, decided or not, and returns it; undefined when it is not there or has expired. */
  "pairing.take": { input: { readonly id: string }; result: PairingRow | undefined };
  /** Takes a request away and lets its sender in, both or neither. Undefined: it is not there or has expired, and nobody was let in. */
  "pairing.redeem": {
    input: { readonly id: string; readonly channel: string; readonly account: string; readonly sender: string; readonly source: string };
    result: PairingRow | undefined;
  };
  "allow.add": {
    input: { readonly channel: string; readonly account: string; readonly sender: string; readonly source: string };
    result: { readonly added: boolean };
  };
  "allow.remove": { input: { readonly channel: string; readonly account: string; readonly sender: string }; result: { readonly removed: boolean } };
}

export interface DevicesReads {
  "devices.get": { input: { readonly id: string }; result: DeviceRow | undefined };
  "devices.list": { input: NoInput; result: readonly DeviceRow[] };
  "devices.tokens": { input: { readonly deviceId?: string | undefined }; result: readonly DeviceTokenRow[] };
  /** Requests that still live, oldest first. */
  "pairing.list": {
    input: { readonly kind?: string | undefined; readonly subjectPrefix?: string | undefined; readonly now: number };
    result: readonly PairingRow[];
  };
  "pairing.find": { input: { readonly kind: string; readonly code: string; readonly now: number }; result: PairingRow | undefined };
  "allow.list": { input: { readonly channel?: string | undefined; readonly account?: string | undefined }; result: readonly AllowRow[] };
}
