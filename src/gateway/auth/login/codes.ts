import { createHash } from "node:crypto";
import type { Clock } from "../../../base/clock.ts";
import type { Random } from "../../../base/random.ts";
import type { Revocation } from "../revocation.ts";

/** Lets one browser in, once. */
export interface LoginCode {
  readonly code: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

export interface LoginCodes {
  /** Makes one. When too many are out, the oldest is worth nothing from now on. */
  make(by?: { readonly deviceId?: string | undefined }): LoginCode;
  /** True for the first who shows a living code; it is used up then. */
  take(code: string): boolean;
  /** Drops the codes that stand on what was revoked: all of them for the shared secret, those it made for a device. */
  revoked(revocation: Revocation): void;
  /** Codes that can still be used. */
  readonly size: number;
}

export const CODE_LIFE_MS = 600_000;
export const MAX_CODES = 20;
/** 192 random bits. */
const CODE_BYTES = 24;

interface Held {
  /** Of the clock that never goes back. */
  readonly until: number;
  readonly deviceId: string | undefined;
}

/** What is kept tells nobody who reads the memory a code; nor does the time that looking one up takes. */
const hashOf = (code: string): string => createHash("sha256").update(code, "utf8").digest("base64url");

/** Codes in memory only: none outlives the process. */
export function createLoginCodes({ clock, random }: { readonly clock: Clock; readonly random: Random }): LoginCodes {
  const held = new Map<string, Held>();

  function forgetOld(): void {
    for (const [hash, { until }] of held) if (until <= clock.monotonic()) held.delete(hash);
  }

  return {
    make(by) {
      forgetOld();
      for (const oldest of held.keys()) {
        if (held.size < MAX_CODES) break;
        held.delete(oldest);
      }
      const code = random.bytes(CODE_BYTES).toString("base64url");
      held.set(hashOf(code), { until: clock.monotonic() + CODE_LIFE_MS, deviceId: by?.deviceId });
      return { code, expiresAt: clock.now() + CODE_LIFE_MS };
    },
    take(code) {
      forgetOld();
      return held.delete(hashOf(code));
    },
    revoked(revocation) {
      for (const [hash, { deviceId }] of held) if ("sharedSecret" in revocation || revocation.deviceId === deviceId) held.delete(hash);
    },
    get size() {
      forgetOld();
      return held.size;
    },
  };
}
