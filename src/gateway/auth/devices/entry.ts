import type { DeviceTokenRow } from "../../../store/index.ts";
import type { Role } from "../../../protocol/index.ts";
import type { IssuedToken } from "../auth.ts";
import { sameKey } from "./identity.ts";
import { definedInfo, parseRecord, recordData, requestOf, type DeviceRecord } from "./records.ts";
import type { DeviceTokens } from "./tokens.ts";
import { coversAll, scopesFor, union } from "./grants.ts";
import { PAIRING_TTL_MS, type PairingCaller, type Entry, type EntryRequest, type PairingDeps, type PairingEvent } from "./pairing.ts";
import type { Revocation } from "../revocation.ts";
import type { Turns } from "../../turns.ts";

export interface EntryDeps extends PairingDeps {
  readonly turns: Turns;
  readonly tokens: DeviceTokens;
  readonly emit: (event: PairingEvent) => void;
  readonly emitResolved: (requestId: string, deviceId: string, decision: "approved" | "rejected") => void;
  readonly emitRevoked: (revocation: Revocation, by?: PairingCaller) => void;
}

/** Requests that may wait at once: strangers cannot fill the store. */
const MAX_PENDING = 500;

interface Known {
  /** Undefined when the device is unknown, or known with another key. */
  readonly record: DeviceRecord | undefined;
  readonly approvedAt: number | undefined;
  /** The living token of the role. */
  readonly token: DeviceTokenRow | undefined;
  readonly repair: boolean;
}

async function lookUp({ deviceId, publicKey, role }: EntryRequest, { store }: EntryDeps): Promise<Known> {
  const [row, tokens] = await Promise.all([store.read("devices.get", { id: deviceId }), store.read("devices.tokens", { deviceId })]);
  const record = row && sameKey(row.publicKey, publicKey) ? parseRecord(row.data) : undefined;
  const token = record && tokens.find((held) => held.role === role && held.revokedAt === null);
  return { record, approvedAt: row?.approvedAt, token, repair: row !== undefined };
}

function issued(row: DeviceTokenRow, role: Role): IssuedToken {
  return { deviceToken: row.token, role, scopes: row.scopes, issuedAtMs: row.rotatedAt ?? row.createdAt };
}

const isApproved = ({ record }: Known, role: Role, asked: readonly string[]): boolean =>
  record !== undefined && record.roles.includes(role) && coversAll(record.scopes, asked);

/** Approves without asking: what was asked for is added to what was approved before, and a token comes with it. */
async function approveSilently(request: EntryRequest, asked: readonly string[], known: Known, deps: EntryDeps): Promise<IssuedToken> {
  const { deviceId, publicKey, role } = request;
  const record: DeviceRecord = {
    info: { ...known.record?.info, ...definedInfo(request.info) },
    roles: union(known.record?.roles ?? [], [role]),
    scopes: union(known.record?.scopes ?? [], asked),
  };
  const scopes = union(known.token?.scopes ?? [], asked);
  const [, row] = await deps.store.commit([
    ["devices.put", { id: deviceId, publicKey, data: recordData(deviceId, publicKey, record) }],
    ["devices.token.put", { deviceId, role, token: deps.tokens.make(), scopes }],
  ]);
  if (known.token) deps.emitRevoked({ deviceId, role, cause: "rotated" });
  deps.emitResolved(deps.ids.uuid(), deviceId, "approved");
  return issued(row, role);
}

/** Stores a pairing request. A pending request of the same device is left unchanged. */
async function ask(request: EntryRequest, asked: readonly string[], known: Known, { store, clock, ids, emit }: EntryDeps): Promise<string | undefined> {
  const { deviceId, publicKey, role } = request;
  const now = clock.now();
  const waiting = await store.read("pairing.list", { kind: "device", now });
  if (waiting.length >= MAX_PENDING && !waiting.some((row) => row.subject === deviceId)) return undefined;
  const record = { info: request.info, roles: [role], scopes: asked };
  const { created, request: row } = await store.write("pairing.request", {
    id: ids.uuid(),
    kind: "device",
    subject: deviceId,
    expiresAt: now + PAIRING_TTL_MS,
    data: { ...recordData(deviceId, publicKey, record), ...request.offers, isRepair: known.repair },
  });
  if (created) emit({ event: "device.pair.requested", payload: requestOf(row) });
  return row.id;
}

/** A browser that was renamed, or had no name of its own yet, is listed under its new name. Nothing else of the record changes. */
async function renamed(request: EntryRequest, deps: EntryDeps): Promise<void> {
  const { deviceId, publicKey, info } = request;
  await deps.turns(deviceId, async () => {
    const { record, approvedAt } = await lookUp(request, deps);
    if (!record || record.info.displayName === info.displayName) return;
    const data = recordData(deviceId, publicKey, { ...record, info: { ...record.info, displayName: info.displayName } });
    await deps.store.write("devices.put", { id: deviceId, publicKey, data, approvedAt });
  });
}

/** Check 17, and the token that `hello-ok` hands out: the current one when it covers what was asked for, else a new one. */
export async function enterDevice(request: EntryRequest, deps: EntryDeps): Promise<Entry> {
  const { deviceId, role } = request;
  const asked = scopesFor(role, request.scopes);
  const first = await lookUp(request, deps);
  const current = (known: Known): IssuedToken | undefined => {
    if (!isApproved(known, role, asked) || !known.token || !coversAll(known.token.scopes, asked)) return undefined;
    deps.tokens.used(known.token);
    return issued(known.token, role);
  };
  const ready = current(first);
  if (ready) {
    if (request.info.displayName !== undefined && first.record?.info.displayName !== request.info.displayName) await renamed(request, deps);
    return { ok: true, issued: ready };
  }
  return deps.turns(deviceId, async () => {
    const known = await lookUp(request, deps);
    const token = current(known);
    if (token) return { ok: true, issued: token };
    if (!isApproved(known, role, asked)) {
      if (!request.local) return { ok: false, requestId: await ask(request, asked, known, deps) };
      return { ok: true, issued: await approveSilently(request, asked, known, deps) };
    }
    const scopes = union(known.token?.scopes ?? [], asked);
    const row = await deps.store.write("devices.token.put", { deviceId, role, token: deps.tokens.make(), scopes });
    if (known.token) deps.emitRevoked({ deviceId, role, cause: "rotated" });
    return { ok: true, issued: issued(row, role) };
  });
}
