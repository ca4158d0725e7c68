/** Senders approved by pairing, in memory: checked for every message. */
import type { Store } from "../../store/index.ts";
import { accountKey } from "../access/section.ts";
import { importPairingFiles, type PairingFilesDeps } from "./files.ts";

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
