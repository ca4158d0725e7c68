import type { Clock } from "../../../base/clock.ts";
import type { Ids } from "../../../base/ids.ts";
import type { Random } from "../../../base/random.ts";
import type { EventPayload, Role } from "../../../protocol/index.ts";
import type { Store } from "../../../store/index.ts";
import type { IssuedToken } from "../auth.ts";
import type { Rotated, RotateInput } from "./tokens.ts";
import type { DeviceInfo, NodeOffers, PairedDevice, PairingRequest } from "./records.ts";
import type { Revocations } from "../revocation.ts";

export type { PairedDevice, PairingRequest } from "./records.ts";

/** How long a request waits for a decision. */
export const PAIRING_TTL_MS = 300_000;

export type PairingEvent =
  | { readonly event: "device.pair.requested"; readonly payload: EventPayload<"device.pair.requested"> }
  | { readonly event: "device.pair.resolved"; readonly payload: EventPayload<"device.pair.resolved"> };

/** The client that makes a change. It cannot grant more than it has, and still gets the response when it revokes its own access. */
export interface PairingCaller {
  readonly scopes: Iterable<string>;
  readonly connId?: string;
}

/** A device that has proved its key and asks for access. */
export interface EntryRequest {
  readonly deviceId: string;
  readonly publicKey: string;
  readonly info: DeviceInfo;
  readonly role: Role;
  readonly scopes: readonly string[];
  /** What a node offers, for the user who decides. */
  readonly offers?: NodeOffers | undefined;
  /** From this machine: approved without asking. */
  readonly local: boolean;
}

export type Entry = { readonly ok: true; readonly issued: IssuedToken } | { readonly ok: false; readonly requestId: string | undefined };

/** `not-paired`: the device has no token for any role, so the token cannot be one of its own. */
export type TokenVerdict = "fits" | "mismatch" | "not-paired";

/** Devices: pending requests, and paired devices with their roles, scopes and tokens. */
export interface Pairing {
  list(): Promise<{ readonly pending: readonly PairingRequest[]; readonly paired: readonly PairedDevice[] }>;
  /** Throws `INVALID_INPUT` `unknown requestId`, also for all but the first of several approvals. */
  approve(requestId: string, by: PairingCaller): Promise<{ readonly requestId: string; readonly device: PairedDevice }>;
  reject(requestId: string): Promise<{ readonly requestId: string; readonly deviceId: string }>;
  remove(deviceId: string, by?: PairingCaller): Promise<{ readonly deviceId: string }>;
  /** Issues a new token for a role and invalidates the old one. Its scopes are never wider than what was approved. */
  rotate(input: RotateInput, by: PairingCaller): Promise<Rotated>;
  revoke(input: { readonly deviceId: string; readonly role: string }, by?: PairingCaller): Promise<{ deviceId: string; role: string; revokedAtMs: number }>;
  /** `fits` when this is the device's current token for the role and its scopes cover the requested ones. */
  verifyToken(input: { readonly deviceId: string; readonly role: string; readonly token: string; readonly scopes: readonly string[] }): Promise<TokenVerdict>;
  /** Admits a device with its approved access, or stores a pairing request. */
  enter(request: EntryRequest): Promise<Entry>;
  /** Called with what operators are notified about. */
  onEvent(listener: (event: PairingEvent) => void): Disposable;
}

export interface PairingDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly random: Random;
  readonly revocations: Revocations;
}
