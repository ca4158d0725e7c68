import type { Clock } from "../../base/clock.ts";
import { AppError } from "../../base/errors.ts";
import type { Ids } from "../../base/ids.ts";
import type { Random } from "../../base/random.ts";
import type { PairingRow, Store } from "../../store/index.ts";
import { accountKey } from "../access/settings.ts";
import { sectionOf, type Section } from "../settings.ts";
import type { AllowLists } from "./allow-lists.ts";

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
function requestOf(row: PairingRow, lastSeenAt = row.createdAt): PairingRequest | undefined {
  const { channel, accountId, senderId, meta }: Section = sectionOf(row.data) ?? {};
  if (row.code === null || typeof channel !== "string" || typeof accountId !== "string" || typeof senderId !== "string") return undefined;
  const { code, createdAt, expiresAt } = row;
  return { channel, accountId, senderId, code, createdAt, lastSeenAt, expiresAt, meta: readMeta(meta) };
}

/** Sent to a stranger whose first message waits for approval. */
export function pairingReply({ channel, idLine, code }: { readonly channel: string; readonly idLine: string; readonly code: string }): string {
  return [
    "OpenClaw: you are not allowed to write here yet.",
    "",
    idLine,
    "",
    `Pairing code: ${code}`,
    "",
    "Ask the owner of this bot to approve it with:",
    `openclaw pairing approve ${channel} ${code}`,
  ].join("\n");
}

/** 32 unambiguous characters: no 0, O, 1 and I. */
const ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
const LENGTH = 8;
const TRIES = 500;

/** A code that is not among `taken`; undefined when none was found, which only happens with broken randomness. */
export function makeCode(random: Pick<Random, "bytes">, taken: ReadonlySet<string>): string | undefined {
  for (let turn = 0; turn < TRIES; turn++) {
    // 32 characters: five bits of each byte are drawn evenly.
    const code = Array.from(random.bytes(LENGTH), (byte) => ALPHABET.charAt(byte % ALPHABET.length)).join("");
    if (!taken.has(code)) return code;
  }
  return undefined;
}

/** Normalizes a code as people type it. */
const readCode = (typed: string): string => typed.trim().toUpperCase();

export interface PairingDeps {
  readonly store: Pick<Store, "read" | "write">;
  readonly clock: Pick<Clock, "now">;
  /** Must be cryptographically secure. */
  readonly random: Pick<Random, "bytes">;
  readonly ids: Pick<Ids, "uuid">;
  /** Updated with every decision. */
  readonly lists?: Pick<AllowLists, "note"> | undefined;
}

interface AccountRef {
  readonly channel: string;
  readonly accountId: string;
}

/** The sender of a decided request. */
export interface PairedSender extends AccountRef {
  readonly senderId: string;
  readonly meta: PairingMeta;
}

/** An approved sender. */
export interface AllowEntry extends AccountRef {
  readonly senderId: string;
  /** How: `pairing`, `command`, `import`. */
  readonly source: string;
  readonly addedAt: number;
}

export interface Pairing {
  /**
   * Records a stranger's request. A pending sender keeps the code (`created` false: do not answer again). An empty code: too many are pending, do not
   * answer.
   */
  request(asked: AccountRef & { readonly senderId: string; readonly meta?: Readonly<Record<string, unknown>> | undefined }): Promise<{
    readonly code: string;
    readonly created: boolean;
  }>;
  /** Approves the holder of the code. Of concurrent calls one succeeds; the others get `NOT_FOUND`. */
  approve(channel: string, code: string, accountId?: string): Promise<PairedSender>;
  reject(channel: string, code: string, accountId?: string): Promise<PairedSender>;
  /** Pending requests, oldest first. */
  list(filter?: { readonly channel?: string | undefined; readonly accountId?: string | undefined }): Promise<readonly PairingRequest[]>;
  /** Approved senders. */
  allowed(channel: string, accountId: string): Promise<readonly string[]>;
  /** The same with source and time, also for several accounts. */
  entries(filter?: { readonly channel?: string | undefined; readonly accountId?: string | undefined }): Promise<readonly AllowEntry[]>;
  /** Approves a sender without a code. False: already approved. */
  allow(sender: AccountRef & { readonly senderId: string; readonly source?: string | undefined }): Promise<boolean>;
  /** False: was not approved. */
  remove(sender: AccountRef & { readonly senderId: string }): Promise<boolean>;
}

const unknownCode = (channel: string, code: string): AppError =>
  new AppError(
    "NOT_FOUND",
    `no pending request on ${channel} with the code ${JSON.stringify(code)}; codes expire after an hour. See: openclaw pairing list ${channel}`,
  );

function senderText(senderId: string): string {
  const text = senderId.trim();
  if (text === "" || text === "*")
    throw new AppError("INVALID_INPUT", `expected the id of one sender, got ${JSON.stringify(text)}; to allow everyone, use the configuration`);
  return text;
}

/** The list of approved senders, and changing it by hand. */
function entriesOf({ store, lists }: Pick<PairingDeps, "store" | "lists">): Pick<Pairing, "allowed" | "entries" | "allow" | "remove"> {
  return {
    allowed: async (channel, accountId) => (await store.read("allow.list", { channel, account: accountKey(accountId) })).map(({ sender }) => sender),
    async entries({ channel, accountId } = {}) {
      const rows = await store.read("allow.list", { channel, ...(accountId === undefined ? {} : { account: accountKey(accountId) }) });
      return rows.map(({ account, sender, source, addedAt, channel: of }) => ({ channel: of, accountId: account, senderId: sender, source, addedAt }));
    },
    async allow({ channel, accountId, senderId, source = "command" }) {
      const entry = { channel, account: accountKey(accountId), sender: senderText(senderId) };
      const { added } = await store.write("allow.add", { ...entry, source });
      lists?.note(channel, accountId, entry.sender, true);
      return added;
    },
    async remove({ channel, accountId, senderId }) {
      const entry = { channel, account: accountKey(accountId), sender: senderId.trim() };
      const { removed } = await store.write("allow.remove", entry);
      lists?.note(channel, accountId, entry.sender, false);
      return removed;
    },
  };
}

export function createPairing({ store, clock, random, ids, lists }: PairingDeps): Pairing {
  /** Pending requests by id. */
  const lastSeen = new Map<string, number>();
  /** Counting and creating must not interleave: they are serialized. */
  let turn: Promise<unknown> = Promise.resolve();

  async function waiting(channel?: string, accountId?: string): Promise<{ readonly row: PairingRow; readonly request: PairingRequest }[]> {
    const rows = await store.read("pairing.list", { kind: KIND, now: clock.now() });
    const alive = new Set(rows.map(({ id }) => id));
    for (const id of lastSeen.keys()) if (!alive.has(id)) lastSeen.delete(id);
    const all = rows.flatMap((row) => {
      const request = requestOf(row, lastSeen.get(row.id));
      return request ? [{ row, request }] : [];
    });
    const account = accountId === undefined ? undefined : accountKey(accountId);
    return all.filter(({ request }) => (channel === undefined || request.channel === channel) && (account === undefined || request.accountId === account));
  }

  async function ask(asked: Parameters<Pairing["request"]>[0]): Promise<{ code: string; created: boolean }> {
    const { channel } = asked;
    const accountId = accountKey(asked.accountId);
    const senderId = senderText(asked.senderId);
    const all = await waiting();
    const here = all.filter(({ request }) => request.channel === channel && request.accountId === accountId);
    const known = here.find(({ request }) => request.senderId === senderId);
    if (known) {
      lastSeen.set(known.row.id, clock.now());
      return { code: known.request.code, created: false };
    }
    const code = here.length >= MAX_PENDING ? undefined : makeCode(random, new Set(all.map(({ request }) => request.code)));
    if (code === undefined) return { code: "", created: false };
    const data = { channel, accountId, senderId, meta: readMeta(asked.meta) };
    const subject = subjectOf(channel, accountId, senderId);
    const { created, request } = await store.write("pairing.request", {
      id: ids.uuid(),
      kind: KIND,
      subject,
      code,
      expiresAt: clock.now() + LIFETIME_MS,
      data,
    });
    return { code: request.code ?? "", created };
  }

  async function find(channel: string, typed: string, accountId?: string): Promise<{ readonly id: string; readonly sender: PairedSender }> {
    const code = readCode(typed);
    const found = (await waiting(channel, accountId)).find(({ request }) => request.code === code);
    if (!found) throw unknownCode(channel, code);
    const { request } = found;
    return { id: found.row.id, sender: { channel, accountId: request.accountId, senderId: request.senderId, meta: request.meta } };
  }

  return {
    request(asked) {
      const next = turn.then(() => ask(asked));
      turn = next.catch(() => undefined);
      return next;
    },
    async approve(channel, code, accountId) {
      const { id, sender } = await find(channel, code, accountId);
      // One write, so that removing the request and approving the sender are atomic, and only one caller succeeds.
      const taken = await store.write("pairing.redeem", { id, channel, account: sender.accountId, sender: sender.senderId, source: "pairing" });
      if (!taken) throw unknownCode(channel, readCode(code));
      lists?.note(channel, sender.accountId, sender.senderId, true);
      return sender;
    },
    async reject(channel, code, accountId) {
      const { id, sender } = await find(channel, code, accountId);
      if (!(await store.write("pairing.take", { id }))) throw unknownCode(channel, readCode(code));
      return sender;
    },
    list: async ({ channel, accountId } = {}) => (await waiting(channel, accountId)).map(({ request }) => request),
    ...entriesOf({ store, lists }),
  };
}
