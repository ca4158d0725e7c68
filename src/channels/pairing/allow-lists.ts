/** Senders approved by pairing, in memory: checked for every message. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Ids } from "../../base/ids.ts";
import type { HostConfig } from "../../protocol/index.ts";
import type { Store, Write } from "../../store/index.ts";
import { accountKey, DEFAULT_ACCOUNT, own } from "../access/settings.ts";
import { sectionOf } from "../settings.ts";
import { KIND, LIFETIME_MS, readMeta, subjectOf } from "./pairing.ts";

export interface AllowListsDeps {
  readonly store: Pick<Store, "read" | "commit">;
  /** Lists that an earlier system left in files: imported once. */
  readonly files?: Omit<PairingFilesDeps, "store"> | undefined;
}

export interface AllowLists {
  /** Loads the stored lists. Before it is done nobody is allowed. */
  load(): Promise<void>;
  /** Ids of one account. The set follows approvals and removals. */
  get(channel: string, accountId: string): ReadonlySet<string>;
  /** Called after the store was updated. */
  note(channel: string, accountId: string, senderId: string, allowed: boolean): void;
}

export function createAllowLists({ store, files }: AllowListsDeps): AllowLists {
  const lists = new Map<string, Set<string>>();

  function listOf(channel: string, accountId: string): Set<string> {
    const key = `${channel}\0${accountKey(accountId)}`;
    const known = lists.get(key);
    if (known) return known;
    const made = new Set<string>();
    lists.set(key, made);
    return made;
  }

  return {
    async load() {
      if (files) await importPairingFiles({ ...files, store });
      const rows = await store.read("allow.list", {});
      for (const list of lists.values()) list.clear();
      for (const { channel, account, sender } of rows) listOf(channel, account).add(sender);
    },
    get: listOf,
    note(channel, accountId, senderId, allowed) {
      const list = listOf(channel, accountId);
      if (allowed) list.add(senderId);
      else list.delete(senderId);
    },
  };
}

interface PairingFilesDeps {
  readonly store: Pick<Store, "read" | "commit">;
  /** The credentials folder. */
  readonly folder: string;
  readonly cfg: HostConfig;
  /** Known channels besides those of the configuration. */
  readonly channels?: readonly string[] | undefined;
  readonly clock: Pick<Clock, "now">;
  readonly ids: Pick<Ids, "uuid">;
  /** Called for a file that cannot be read. */
  readonly problem?: ((text: string) => void) | undefined;
}

/** Names of the imported files. */
const MARK = "channels.pairing.files";
const NAME = /^(.+)-(allowFrom|pairing)\.json$/;

interface PairingFile {
  readonly name: string;
  readonly channel: string;
  /** Undefined: the file names none. */
  readonly account: string | undefined;
  readonly isList: boolean;
}

/** Channel and account of a file name; the longest channel wins, because channel names may contain dashes. */
function readName(name: string, channels: readonly string[]): PairingFile | undefined {
  const [, stem = "", kind] = NAME.exec(name) ?? [];
  const channel = channels.filter((id) => stem === id || stem.startsWith(`${id}-`)).sort((a, b) => b.length - a.length)[0];
  if (channel === undefined) return undefined;
  const isList = kind === "allowFrom";
  if (stem === channel) return { name, channel, account: undefined, isList };
  return isList ? { name, channel, account: accountKey(stem.slice(channel.length + 1)), isList } : undefined;
}

/** The account that is meant when none is named. */
function defaultAccount(cfg: HostConfig, channel: string): string {
  const accounts = sectionOf(own(sectionOf(own(sectionOf(cfg?.channels), channel)), "accounts"));
  const ids = Object.keys(accounts ?? {})
    .map(accountKey)
    .sort();
  return ids.includes(DEFAULT_ACCOUNT) ? DEFAULT_ACCOUNT : (ids[0] ?? DEFAULT_ACCOUNT);
}

const textOf = (value: unknown): string => (typeof value === "string" || typeof value === "number" ? String(value).trim() : "");
const timeOf = (value: unknown): number => (typeof value === "number" ? value : Date.parse(textOf(value)));
const itemsOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

function listWrites(content: unknown, channel: string, account: string): Write[] {
  const ids = itemsOf(sectionOf(content)?.["allowFrom"]).map(textOf);
  return ids.filter((id) => id !== "" && id !== "*").map((sender) => ["allow.add", { channel, account, sender, source: "import" }]);
}

function requestWrites(content: unknown, channel: string, fallback: string, { clock, ids }: PairingFilesDeps): Write[] {
  return itemsOf(sectionOf(content)?.["requests"]).flatMap((item): Write[] => {
    const request = sectionOf(item);
    const [senderId, code, createdAt] = [textOf(request?.["id"]), textOf(request?.["code"]).toUpperCase(), timeOf(request?.["createdAt"])];
    const expiresAt = createdAt + LIFETIME_MS;
    if (senderId === "" || senderId === "*" || code === "" || !(expiresAt > clock.now()) || createdAt > clock.now()) return [];
    const meta = readMeta(request?.["meta"]);
    const accountId = meta["accountId"] === undefined ? fallback : accountKey(meta["accountId"]);
    const data = { channel, accountId, senderId, meta };
    return [["pairing.request", { id: ids.uuid(), kind: KIND, subject: subjectOf(channel, accountId, senderId), code, expiresAt, data }]];
  });
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return []; // The folder does not exist.
  }
}

/**
 * Imports lists and requests that an earlier system left in files: `<channel>-allowFrom.json`, `<channel>-<account>-allowFrom.json`,
 * `<channel>-pairing.json`. Each is imported once and stays as it is: a removed sender does not come back with the next start.
 */
async function importPairingFiles(deps: PairingFilesDeps): Promise<void> {
  const { store, folder, cfg, problem } = deps;
  const channels = [...new Set([...Object.keys(sectionOf(cfg?.channels) ?? {}).filter((id) => id !== "defaults"), ...(deps.channels ?? [])])];
  const found = namesIn(folder).flatMap((name) => readName(name, channels) ?? []);
  if (found.length === 0) return;
  const done = new Set(itemsOf(await store.read("meta.get", { key: MARK })).map(textOf));
  for (const { name, channel, account, isList } of found.filter(({ name: one }) => !done.has(one))) {
    try {
      const content: unknown = JSON.parse(readFileSync(join(folder, name), "utf8"));
      const target = account ?? defaultAccount(cfg, channel);
      const writes = isList ? listWrites(content, channel, target) : requestWrites(content, channel, target, deps);
      done.add(name);
      await store.commit([...writes, ["meta.set", { key: MARK, value: [...done] }]]);
    } catch (error) {
      done.delete(name);
      problem?.(`${join(folder, name)} was left unchanged and not imported: ${messageOf(error)}`);
    }
  }
}
