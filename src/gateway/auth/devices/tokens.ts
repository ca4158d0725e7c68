import type { Clock } from "../../../base/clock.ts";
import { AppError } from "../../../base/errors.ts";
import type { Random } from "../../../base/random.ts";
import type { Store } from "../../../store/index.ts";
import { isDeviceId, parseRecord } from "./records.ts";
import { coversAll, firstUncovered, union } from "./grants.ts";
import type { PairingCaller, Pairing } from "./pairing.ts";
import type { Revocation } from "../revocation.ts";
import { equalSecrets } from "../../../base/equal-secrets.ts";
import type { Turns } from "../../turns.ts";

export interface RotateInput {
  readonly deviceId: string;
  readonly role: string;
  /** Default: the scopes of the current token. */
  readonly scopes?: readonly string[] | undefined;
}

export interface Rotated {
  readonly deviceId: string;
  readonly role: string;
  readonly token: string;
  readonly scopes: readonly string[];
  readonly rotatedAtMs: number;
}

export interface DeviceTokensDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly turns: Turns;
  readonly emitRevoked: (revocation: Revocation, by?: PairingCaller) => void;
}

export interface DeviceTokens extends Pick<Pairing, "rotate" | "revoke"> {
  /** A new token's text: 32 random bytes. */
  make(): string;
  verify: Pairing["verifyToken"];
  /** Records that a token was used, at most once per `USED_EVERY_MS`. */
  used(token: { readonly deviceId: string; readonly role: string; readonly lastUsedAt: number | null }): void;
}

/** Minimum time between two records of use. */
const USED_EVERY_MS = 60_000;

const unknownRole = (): AppError => new AppError("INVALID_INPUT", "unknown deviceId/role");

/**
 * Device tokens, one per role. They are stored as plain text, not as hashes: the protocol returns the current token to a device that
 * proves its key.
 */
export function createDeviceTokens({ store, clock, random, turns, emitRevoked }: DeviceTokensDeps): DeviceTokens {
  const make = (): string => random.bytes(32).toString("base64url");
  const tokenOf = async (deviceId: string, role: string) => (await store.read("devices.tokens", { deviceId })).find((row) => row.role === role);

  return {
    make,

    async verify({ deviceId, role, token, scopes }) {
      const held = await store.read("devices.tokens", { deviceId });
      const row = held.find((one) => one.role === role);
      const same = equalSecrets(token, row?.token ?? "");
      if (held.length === 0) return "not-paired";
      return same && row && row.revokedAt === null && coversAll(row.scopes, scopes) ? "fits" : "mismatch";
    },

    used({ deviceId, role, lastUsedAt }) {
      if (lastUsedAt !== null && clock.now() - lastUsedAt < USED_EVERY_MS) return;
      // Nothing waits for this write, and store failures are reported elsewhere.
      store.write("devices.token.used", { deviceId, role }).catch(() => {});
    },

    rotate: ({ deviceId, role, scopes }, by) =>
      turns(deviceId, async () => {
        const [device, before] = await Promise.all([store.read("devices.get", { id: deviceId }), tokenOf(deviceId, role)]);
        const approved = parseRecord(device?.data);
        if (!device || !before || !approved.roles.includes(role)) throw unknownRole();
        const wanted = union(scopes ?? before.scopes);
        const outside = firstUncovered(approved.scopes, wanted);
        if (outside !== undefined) throw new AppError("INVALID_INPUT", `scope was not approved for this device: ${outside}`);
        const missing = firstUncovered(by.scopes, wanted);
        if (missing !== undefined) throw new AppError("INVALID_INPUT", `missing scope: ${missing}`);
        const row = await store.write("devices.token.put", { deviceId, role, token: make(), scopes: wanted });
        emitRevoked({ deviceId, role, cause: "rotated" }, by);
        return { deviceId, role, token: row.token, scopes: row.scopes, rotatedAtMs: row.rotatedAt ?? row.createdAt };
      }),

    revoke: ({ deviceId, role }, by) =>
      turns(deviceId, async () => {
        if (!isDeviceId(deviceId) || !(await tokenOf(deviceId, role))) throw unknownRole();
        await store.write("devices.token.revoke", { deviceId, role });
        const row = await tokenOf(deviceId, role);
        emitRevoked({ deviceId, role, cause: "revoked" }, by);
        return { deviceId, role, revokedAtMs: row?.revokedAt ?? clock.now() };
      }),
  };
}
