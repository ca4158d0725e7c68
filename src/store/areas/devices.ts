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

/** A pending pairing request: of a device, a node, or a sender of a channel. One request per subject. */
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
  /** Writes a device; the creation time is preserved, the approval time is now. */
  "devices.put": {
    /** Without a time it counts as approved now. */
    input: { readonly id: string; readonly publicKey: string; readonly data: unknown; readonly approvedAt?: number | undefined };
    result: void;
  };
  /** Removes a device with its tokens. */
  "devices.delete": { input: { readonly id: string }; result: { readonly deleted: boolean } };
  /** Writes the token of a role: an existing one is rotated, a revoked one becomes valid again. */
  "devices.token.put": {
    input: { readonly deviceId: string; readonly role: string; readonly token: string; readonly scopes: readonly string[] };
    result: DeviceTokenRow;
  };
  "devices.token.revoke": { input: { readonly deviceId: string; readonly role: string }; result: { readonly revoked: boolean } };
  "devices.token.used": { input: { readonly deviceId: string; readonly role: string }; result: void };
  /** Requests pairing. While an earlier request of the same subject is valid, that one is returned and nothing changes. */
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
  /** Removes a request, decided or not, and returns it; undefined when it does not exist or has expired. */
  "pairing.take": { input: { readonly id: string }; result: PairingRow | undefined };
  /** Removes a request and approves its sender, in one step. Undefined: it does not exist or has expired, and nothing was approved. */
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
  /** Valid requests, oldest first. */
  "pairing.list": {
    input: { readonly kind?: string | undefined; readonly subjectPrefix?: string | undefined; readonly now: number };
    result: readonly PairingRow[];
  };
  "pairing.find": { input: { readonly kind: string; readonly code: string; readonly now: number }; result: PairingRow | undefined };
  "allow.list": { input: { readonly channel?: string | undefined; readonly account?: string | undefined }; result: readonly AllowRow[] };
}
