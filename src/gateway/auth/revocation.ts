import type { AuthMethod } from "./auth.ts";
import type { Listeners } from "./listeners.ts";

/** Something that open sockets may stand on is no longer valid. */
export type Revocation =
  /** The shared secret, or another rule by which sockets came in without a token of their own, is no longer the same. */
  (
    | { readonly sharedSecret: true; readonly methods: readonly AuthMethod[] }
    /** `rotated` reaches sockets that used the token, the others every socket of the device (and role). */
    | { readonly deviceId: string; readonly role?: string; readonly cause: "rotated" | "revoked" | "removed" }
  ) & {
    /** Only this connection, or all but this one: the one that asked for it gets its answer before it is closed. */
    readonly only?: string;
    readonly except?: string;
  };

/** What a socket stands on. */
export interface Standing {
  readonly connId?: string | undefined;
  readonly method: AuthMethod;
  readonly deviceId?: string | undefined;
  readonly role: string;
}

/** True when a socket has to be closed. */
export function isRevoked(revocation: Revocation, socket: Standing): boolean {
  if (revocation.only !== undefined && revocation.only !== socket.connId) return false;
  if (revocation.except !== undefined && revocation.except === socket.connId) return false;
  if ("sharedSecret" in revocation) return revocation.methods.includes(socket.method);
  if (revocation.deviceId !== socket.deviceId) return false;
  if (revocation.role !== undefined && revocation.role !== socket.role) return false;
  return revocation.cause !== "rotated" || socket.method === "device-token";
}

export type Revocations = Listeners<Revocation>;
