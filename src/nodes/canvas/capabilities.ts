import { createHash } from "node:crypto";
import type { Clock } from "../../base/clock.ts";
import type { Ids } from "../../base/ids.ts";

const VALID_MS = 10 * 60_000;
const TOKEN_BYTES = 24;

/** Secrets in addresses of the canvas. Each belongs to one connection and ends with it. */
export interface Capabilities {
  /** The connection's token; a new one when it has none that is valid. */
  issue(connId: string): string;
  /** True for a token of a connection that is there; each use renews it. */
  check(token: string): boolean;
  /** The connection is gone. */
  revoke(connId: string): void;
}

interface Held {
  readonly connId: string;
  readonly token: string;
  readonly digest: string;
  expiresAt: number;
}

/** Tokens are looked up by their digest: the time that takes says nothing about them. */
const digestOf = (token: string): string => createHash("sha256").update(token, "utf8").digest("hex");

export function createCapabilities({ clock, ids }: { readonly clock: Pick<Clock, "monotonic">; readonly ids: Pick<Ids, "hex"> }): Capabilities {
  const byConnection = new Map<string, Held>();
  const byDigest = new Map<string, Held>();
  function revoke(connId: string): void {
    const known = byConnection.get(connId);
    if (!known) return;
    byConnection.delete(connId);
    byDigest.delete(known.digest);
  }
  function renewed(held: Held | undefined): boolean {
    const now = clock.monotonic();
    if (held === undefined || held.expiresAt <= now) return false;
    held.expiresAt = now + VALID_MS;
    return true;
  }

  return {
    issue(connId) {
      const known = byConnection.get(connId);
      if (known && renewed(known)) return known.token;
      revoke(connId);
      const token = ids.hex(TOKEN_BYTES);
      const held = { connId, token, digest: digestOf(token), expiresAt: clock.monotonic() + VALID_MS };
      byConnection.set(connId, held);
      byDigest.set(held.digest, held);
      return token;
    },
    check: (token) => renewed(byDigest.get(digestOf(token))),
    revoke,
  };
}
