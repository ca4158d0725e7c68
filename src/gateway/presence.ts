import type { Clock } from "../base/clock.ts";
import type { Presence as PresenceEntry } from "../protocol/index.ts";
import { printableName } from "../base/printable.ts";

/** What a program tells of itself; all fields but the time. */
export type PresenceUpdate = Partial<Omit<PresenceEntry, "ts">>;

export interface ClientPresence {
  readonly connId: string;
  readonly client: {
    readonly id: string;
    readonly mode: string;
    readonly version: string;
    readonly platform: string;
    readonly displayName?: string | undefined;
    readonly deviceFamily?: string | undefined;
    readonly modelIdentifier?: string | undefined;
    readonly instanceId?: string | undefined;
  };
  readonly deviceId?: string | undefined;
  readonly role: string;
  readonly scopes: Iterable<string>;
  /** Only of clients on other machines. */
  readonly remoteIp?: string | undefined;
}

/** Who is, or was a moment ago, connected. */
export interface Presence {
  /** Newest first; the gateway itself is always there. */
  list(): PresenceEntry[];
  /** Grows with every change. Starts at 1. */
  readonly version: number;
  /** Gives the key to pass to `disconnected`, once; undefined when clients of this kind are not tracked. */
  connected(client: ClientPresence): string | undefined;
  /** Who has another connection open has not left. */
  disconnected(key: string): void;
  /** What a `system-event` tells: fields as sent, completed from its text. True when anything but the time changed. */
  update(fields: PresenceUpdate & { readonly text: string }): boolean;
}

export interface PresenceDeps {
  readonly clock: Pick<Clock, "now">;
  readonly host: string;
  readonly ip?: string | undefined;
  readonly version: string;
  readonly platform: string;
  /** Called after each change that is announced: a close or a report, not a connect. */
  readonly onChange: () => void;
}

const TTL_MS = 5 * 60_000;
/** 200 in all; one place is the gateway's own. */
const MAX_CLIENTS = 199;
const MAX_TEXT = 2000;

/** Reads `Node: <host> (<ip>) · app <v> · last input <n>s ago · mode <m> · reason <r>`; parts may be missing. */
export function parsePresenceText(text: string): PresenceUpdate {
  const [head = "", ...parts] = text.slice(0, MAX_TEXT).trim().split(" · ");
  const named = /^Node:\s*([^()]*)(?:\(([^()]*)\))?/.exec(head);
  const found: Record<string, string | number> = {};
  const host = named?.[1]?.trim();
  const ip = named?.[2]?.trim();
  if (host) found["host"] = host;
  if (ip) found["ip"] = ip;
  for (const part of parts) {
    const [, name, value] = /^(app|mode|reason)\s+(.+)$/.exec(part.trim()) ?? [];
    if (name !== undefined && value !== undefined) found[name === "app" ? "version" : name] = value.trim();
    const input = /^last input\s+(\d{1,9})s ago$/.exec(part.trim());
    if (input) found["lastInputSeconds"] = Number(input[1]);
  }
  return found;
}

const FIELDS = [
  "host",
  "ip",
  "version",
  "platform",
  "deviceFamily",
  "modelIdentifier",
  "mode",
  "lastInputSeconds",
  "reason",
  "tags",
  "text",
  "deviceId",
  "roles",
  "scopes",
  "instanceId",
] as const;

/** The entry is closed: what else a caller sends stays out of it. */
function knownFields(fields: PresenceUpdate): PresenceUpdate {
  return Object.fromEntries(FIELDS.map((name) => [name, fields[name]]));
}

const given = (update: PresenceUpdate): PresenceUpdate => Object.fromEntries(Object.entries(update).filter(([, value]) => value !== undefined));
const union = (a: readonly string[] | undefined, b: readonly string[] | undefined): string[] => [...new Set([...(a ?? []), ...(b ?? [])])];

/** The later update wins field by field; roles and scopes accumulate. */
function merge(before: PresenceEntry | undefined, update: PresenceUpdate, ts: number): PresenceEntry {
  const roles = union(before?.roles, update.roles);
  const scopes = union(before?.scopes, update.scopes);
  return { ...before, ...given(update), ...(roles.length > 0 ? { roles } : {}), ...(scopes.length > 0 ? { scopes } : {}), ts };
}

function selfEntry({ host, ip, version, platform }: PresenceDeps, ts: number): PresenceEntry {
  const text = `Gateway: ${host}${ip ? ` (${ip})` : ""} · app ${version} · mode gateway · reason self`;
  return { host, ...(ip ? { ip } : {}), version, platform, mode: "gateway", reason: "self", text, ts };
}

export function createPresence(deps: PresenceDeps): Presence {
  /** Oldest update first: every update moves its entry to the end. */
  const entries = new Map<string, PresenceEntry>();
  /** Open connections by key: one device may have several. */
  const open = new Map<string, number>();
  let version = 1;

  /** Forgets what is past its time, and the oldest beyond `keep`. */
  function drop(keep: number): void {
    const limit = deps.clock.now() - TTL_MS;
    for (const [key, entry] of entries) {
      if (entry.ts > limit && entries.size <= keep) return;
      entries.delete(key);
    }
  }

  function put(key: string, update: PresenceUpdate): PresenceEntry {
    const entry = merge(entries.get(key), update, deps.clock.now());
    entries.delete(key);
    drop(MAX_CLIENTS - 1);
    entries.set(key, entry);
    version += 1;
    return entry;
  }

  return {
    list() {
      drop(MAX_CLIENTS);
      const newestFirst = [...entries.values()].reverse();
      return [selfEntry(deps, deps.clock.now()), ...newestFirst];
    },
    get version() {
      return version;
    },
    connected({ connId, client, deviceId, role, scopes, remoteIp }) {
      if (client.mode === "cli") return undefined;
      const { id, mode, version: clientVersion, platform, displayName, deviceFamily, modelIdentifier, instanceId } = client;
      const key = (deviceId ?? instanceId ?? connId).toLowerCase();
      const host = printableName(displayName ?? id) || printableName(id);
      const known = { host, ip: remoteIp, version: clientVersion, platform, deviceFamily, modelIdentifier, mode, deviceId, instanceId };
      open.set(key, (open.get(key) ?? 0) + 1);
      put(key, { ...known, reason: "connect", text: `Node: ${host} · mode ${mode}`, roles: [role], scopes: [...scopes] } as PresenceUpdate);
      return key;
    },
    disconnected(key) {
      const others = (open.get(key) ?? 1) - 1;
      if (others > 0) open.set(key, others);
      else open.delete(key);
      if (others === 0 && entries.has(key)) put(key, { reason: "disconnect" });
      else version += 1;
      deps.onChange();
    },
    update(fields) {
      const reported: PresenceUpdate = { ...parsePresenceText(fields.text), ...given(knownFields(fields)) };
      const name = (reported.deviceId ?? reported.instanceId ?? reported.host ?? reported.ip ?? fields.text.slice(0, 64)).toLowerCase();
      const before = entries.get(name);
      const after = put(name, reported);
      deps.onChange();
      return JSON.stringify({ ...before, ts: 0 }) !== JSON.stringify({ ...after, ts: 0 });
    },
  };
}
