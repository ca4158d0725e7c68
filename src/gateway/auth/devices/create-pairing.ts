import { AppError } from "../../../base/errors.ts";
import type { Role } from "../../../protocol/index.ts";
import { sameKey } from "./identity.ts";
import { definedInfo, isDeviceId, pairedDevice, parseRecord, recordData, requestOf, type PairedDevice } from "./records.ts";
import { createDeviceTokens } from "./tokens.ts";
import { enterDevice } from "./entry.ts";
import { firstUncovered, scopesFor, union } from "./grants.ts";
import type { PairingCaller, Pairing, PairingDeps, PairingEvent } from "./pairing.ts";
import type { Revocation } from "../revocation.ts";
import { createListeners } from "../listeners.ts";
import { createTurns } from "../../turns.ts";

/** How long a connection that revoked its own access stays open to receive the response. */
const ANSWER_MS = 250;

const unknownRequest = (): AppError => new AppError("INVALID_INPUT", "unknown requestId");

export function createPairing(deps: PairingDeps): Pairing {
  const { store, clock, revocations } = deps;
  const turns = createTurns();
  const { emit, on: onEvent } = createListeners<PairingEvent>();
  const emitResolved = (requestId: string, deviceId: string, decision: "approved" | "rejected"): void =>
    emit({ event: "device.pair.resolved", payload: { requestId, deviceId, decision, ts: clock.now() } });
  const emitRevoked = (revocation: Revocation, by?: PairingCaller): void => {
    const { connId } = by ?? {};
    if (connId === undefined) return revocations.emit(revocation);
    revocations.emit({ ...revocation, except: connId });
    clock.after(ANSWER_MS, () => revocations.emit({ ...revocation, only: connId }));
  };
  const tokens = createDeviceTokens({ ...deps, turns, emitRevoked });
  const find = async (requestId: string) => (await store.read("pairing.list", { kind: "device", now: clock.now() })).find((row) => row.id === requestId);

  async function approve(requestId: string, by: PairingCaller): Promise<{ requestId: string; device: PairedDevice }> {
    const pending = await find(requestId);
    if (!pending) throw unknownRequest();
    const id = pending.subject;
    return turns(id, async () => {
      if (!(await find(requestId))) throw unknownRequest();
      const request = requestOf(pending);
      const role: Role = request.role === "node" ? "node" : "operator";
      const asked = scopesFor(role, request.scopes ?? []);
      const missing = firstUncovered(by.scopes, asked);
      if (missing !== undefined) throw new AppError("INVALID_INPUT", `missing scope: ${missing}`);
      const [known, held] = await Promise.all([store.read("devices.get", { id }), store.read("devices.tokens", { deviceId: id })]);
      const before = known && sameKey(known.publicKey, request.publicKey) ? parseRecord(known.data) : undefined;
      const old = before ? held.find((row) => row.role === role && row.revokedAt === null) : undefined;
      const record = {
        info: { ...before?.info, ...definedInfo(parseRecord(pending.data).info) },
        roles: union(before?.roles ?? [], request.roles ?? [], [role]),
        scopes: union(before?.scopes ?? [], asked),
      };
      // One commit, so a request is never removed without its device being paired.
      const [, , token] = await store.commit([
        ["pairing.take", { id: requestId }],
        ["devices.put", { id, publicKey: request.publicKey, data: recordData(id, request.publicKey, record) }],
        ["devices.token.put", { deviceId: id, role, token: tokens.make(), scopes: union(old?.scopes ?? [], asked) }],
      ]);
      emitResolved(requestId, id, "approved");
      if (old) emitRevoked({ deviceId: id, role, cause: "rotated" }, by);
      const row = (await store.read("devices.get", { id }))!;
      return { requestId, device: pairedDevice(row, [...held.filter((other) => other.role !== role), token]) };
    });
  }

  return {
    approve,

    async list() {
      const [pending, devices, all] = await Promise.all([
        store.read("pairing.list", { kind: "device", now: clock.now() }),
        store.read("devices.list", {}),
        store.read("devices.tokens", {}),
      ]);
      const paired = devices.filter((row) => isDeviceId(row.id)).map((row) => pairedDevice(row, all));
      return { pending: pending.map(requestOf), paired };
    },

    async reject(requestId) {
      const pending = await find(requestId);
      const taken = pending && (await turns(pending.subject, () => store.write("pairing.take", { id: requestId })));
      if (!taken) throw unknownRequest();
      emitResolved(requestId, taken.subject, "rejected");
      return { requestId, deviceId: taken.subject };
    },

    remove: (deviceId, by) =>
      turns(deviceId, async () => {
        const deleted = isDeviceId(deviceId) && (await store.write("devices.delete", { id: deviceId })).deleted;
        if (!deleted) throw new AppError("INVALID_INPUT", "unknown deviceId");
        emitRevoked({ deviceId, cause: "removed" }, by);
        return { deviceId };
      }),

    rotate: tokens.rotate,
    revoke: tokens.revoke,
    verifyToken: tokens.verify,
    enter: (request) => enterDevice(request, { ...deps, turns, tokens, emit, emitResolved, emitRevoked }),
    onEvent,
  };
}
