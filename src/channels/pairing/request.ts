/** A pairing request, as stored. */
import type { PairingRow } from "../../store/index.ts";

export const KIND = "channel";
export const LIFETIME_MS = 60 * 60_000;
export const MAX_PENDING = 3;

/** A channel's information about a stranger: names, for people only. */
export type PairingMeta = Readonly<Record<string, string>>;

export interface PairingRequest {
  readonly channel: string;
  readonly accountId: string;
  readonly senderId: string;
  readonly code: string;
  readonly createdAt: number;
  /** When this sender last wrote, as far as this process knows. */
  readonly lastSeenAt: number;
  readonly expiresAt: number;
  readonly meta: PairingMeta;
}

const MAX_META = 16;
const MAX_TEXT = 200;

/** Texts of strangers, bounded. */
export function readMeta(value: unknown): PairingMeta {
  if (typeof value !== "object" || value === null) return {};
  const texts = Object.entries(value).flatMap(([key, text]) => (typeof text === "string" && text !== "" ? [[key, text.slice(0, MAX_TEXT)] as const] : []));
  return Object.fromEntries(texts.slice(0, MAX_META));
}

export const subjectOf = (channel: string, accountId: string, senderId: string): string => `${channel}:${accountId}:${senderId}`;

/** Undefined for an invalid row. */
export function requestOf(row: PairingRow, lastSeenAt = row.createdAt): PairingRequest | undefined {
  const data = (row.data ?? {}) as { readonly channel?: unknown; readonly accountId?: unknown; readonly senderId?: unknown; readonly meta?: unknown };
  const { channel, accountId, senderId } = data;
  if (row.code === null || typeof channel !== "string" || typeof accountId !== "string" || typeof senderId !== "string") return undefined;
  const { code, createdAt, expiresAt } = row;
  return { channel, accountId, senderId, code, createdAt, lastSeenAt, expiresAt, meta: readMeta(data.meta) };
}
