import { printableName } from "../../../base/printable.ts";
import type { EventPayload, MethodResult } from "../../../protocol/index.ts";
import type { DeviceRow, DeviceTokenRow, PairingRow } from "../../../store/index.ts";

/** A device that waits, as `device.pair.requested` shows it. */
export type PairingRequest = EventPayload<"device.pair.requested">;

/** A device that is in, as `device.pair.list` shows it: without its tokens' text. */
export type PairedDevice = MethodResult<"device.pair.list">["paired"][number];

/** Paired nodes stand in the same table under names that no device has: a device's id is a hash. */
export const NODE_PREFIX = "node:";
export const isDeviceId = (id: string): boolean => !id.startsWith(NODE_PREFIX);

/** Texts that a device tells about itself. */
const INFO = ["displayName", "platform", "clientId", "clientMode", "remoteIp"] as const;
export type DeviceInfo = { readonly [K in (typeof INFO)[number]]?: string | undefined };

/** What a node says that it can do. */
export interface NodeOffers {
  readonly caps: readonly string[];
  readonly commands: readonly string[];
}

const MOST_OFFERS = 100;
const MOST_OFFER = 100;

/** Of a node that says too much, the first ones. */
export function boundedOffers(caps: readonly string[] = [], commands: readonly string[] = []): NodeOffers {
  const bounded = (names: readonly string[]): readonly string[] =>
    names
      .slice(0, MOST_OFFERS)
      .map((name) => printableName(name))
      .filter((name) => name !== "" && name.length <= MOST_OFFER);
  return { caps: bounded(caps), commands: bounded(commands) };
}

/** What was approved for a device. */
export interface DeviceRecord {
  readonly info: DeviceInfo;
  readonly roles: readonly string[];
  readonly scopes: readonly string[];
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === "object" && value !== null;
const texts = (value: unknown): readonly string[] => (Array.isArray(value) ? value.filter((item) => typeof item === "string") : []);

/** Stored data was written by us or taken over from files: what does not fit is left out. */
export function parseRecord(data: unknown): DeviceRecord {
  const fields = isRecord(data) ? data : {};
  const info = Object.fromEntries(INFO.flatMap((key) => (typeof fields[key] === "string" ? [[key, fields[key]]] : [])));
  const roles = [...new Set([...texts(fields["roles"]), ...(typeof fields["role"] === "string" ? [fields["role"]] : [])])];
  return { info, roles, scopes: texts(fields["scopes"]) };
}

/** The stored form of a record, with the names that the files of the reference system have. */
export function recordData(deviceId: string, publicKey: string, { info, roles, scopes }: DeviceRecord): Record<string, unknown> {
  return { deviceId, publicKey, ...definedInfo(info), ...(roles[0] === undefined ? {} : { role: roles[0] }), roles, scopes };
}

export function definedInfo(info: DeviceInfo): { readonly [K in keyof DeviceInfo]?: string } {
  return Object.fromEntries(Object.entries(info).filter((pair) => pair[1] !== undefined));
}

export function requestOf(row: PairingRow): PairingRequest {
  const { info, roles, scopes } = parseRecord(row.data);
  const data = isRecord(row.data) ? row.data : {};
  return {
    requestId: row.id,
    deviceId: row.subject,
    publicKey: typeof data["publicKey"] === "string" ? data["publicKey"] : "",
    ...definedInfo(info),
    ...(roles[0] === undefined ? {} : { role: roles[0] }),
    roles,
    scopes,
    ...(Array.isArray(data["commands"]) ? { caps: texts(data["caps"]), commands: texts(data["commands"]) } : {}),
    ...(data["silent"] === true ? { silent: true } : {}),
    isRepair: data["isRepair"] === true,
    ts: row.createdAt,
  };
}

export function pairedDevice(row: DeviceRow, tokens: readonly DeviceTokenRow[]): PairedDevice {
  const { info, roles, scopes } = parseRecord(row.data);
  return {
    deviceId: row.id,
    publicKey: row.publicKey,
    ...definedInfo(info),
    ...(roles[0] === undefined ? {} : { role: roles[0] }),
    roles,
    scopes,
    createdAtMs: row.createdAt,
    approvedAtMs: row.approvedAt,
    tokens: tokens.filter((token) => token.deviceId === row.id).map(tokenSummary),
  };
}

function tokenSummary(token: DeviceTokenRow): NonNullable<PairedDevice["tokens"]>[number] {
  return {
    role: token.role,
    scopes: token.scopes,
    createdAtMs: token.createdAt,
    ...(token.rotatedAt === null ? {} : { rotatedAtMs: token.rotatedAt }),
    ...(token.revokedAt === null ? {} : { revokedAtMs: token.revokedAt }),
    ...(token.lastUsedAt === null ? {} : { lastUsedAtMs: token.lastUsedAt }),
  };
}
