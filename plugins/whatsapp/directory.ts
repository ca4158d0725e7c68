/** Who and what can be written to. */
import { type ChannelPlugin, listWhatsAppDirectoryGroupsFromConfig } from "openclaw/plugin-sdk";
import { listDirectoryEntriesFromSources, toDirectoryEntries } from "openclaw/plugin-sdk/directory-runtime";
import type { WhatsAppAccounts } from "./account.ts";
import { allowEntry, isGroup, isName, normalAddress, numberOf } from "./address.ts";
import { readSelf } from "./credentials/files.ts";
import type { LiveAccounts } from "./live.ts";

type Directory = NonNullable<ChannelPlugin["directory"]>;
type Resolver = NonNullable<ChannelPlugin["resolver"]>;

export function createDirectory(accounts: WhatsAppAccounts, live: LiveAccounts): Directory {
  return {
    async self({ cfg, accountId }) {
      const me = await readSelf(accounts.read(cfg, accountId).authDir);
      const id = numberOf(me?.id);
      return id === undefined ? null : { kind: "user", id, ...(me?.name ? { name: me.name } : {}) };
    },
    async listPeers({ cfg, accountId, query, limit }) {
      const { allowFrom, groupAllowFrom } = accounts.read(cfg, accountId);
      const people = [allowFrom, groupAllowFrom].map((list) => list.filter((entry) => entry !== "*" && !isName(entry)));
      return listDirectoryEntriesFromSources({ kind: "user", sources: people, normalizeId: allowEntry, query, limit });
    },
    listGroups: listWhatsAppDirectoryGroupsFromConfig,
    async listGroupsLive({ cfg, accountId, query, limit }) {
      const groups = await live.need(accounts.read(cfg, accountId).accountId).socket.groupFetchAllParticipating();
      const wanted = query?.trim().toLowerCase() ?? "";
      const found = Object.values(groups).filter(({ id, subject }) => wanted === "" || `${id} ${subject}`.toLowerCase().includes(wanted));
      return found.slice(0, limit ?? undefined).map(({ id, subject }) => ({ kind: "group" as const, id, name: subject }));
    },
    async listGroupMembers({ cfg, accountId, groupId, limit }) {
      const { participants } = await live.need(accounts.read(cfg, accountId).accountId).socket.groupMetadata(groupId);
      const ids = participants.map(({ id, phoneNumber }) => numberOf(phoneNumber) ?? numberOf(id) ?? id);
      return toDirectoryEntries("user", ids, { query: undefined, limit });
    },
  };
}

export function createResolver(accounts: WhatsAppAccounts, live: LiveAccounts): Resolver {
  return {
    async resolveTargets({ cfg, accountId, inputs, kind }) {
      const { accountId: id } = accounts.read(cfg, accountId);
      const groups = kind === "group" ? Object.values((await live.get(id)?.socket.groupFetchAllParticipating()) ?? {}) : [];
      return Promise.all(
        inputs.map(async (input) => {
          const address = normalAddress(input);
          if (kind === "group") {
            const same = groups.filter((group) => group.id === address || group.subject.toLowerCase() === input.trim().toLowerCase());
            const [only] = same;
            if (only && same.length === 1) return { input, resolved: true, id: only.id, name: only.subject };
            if (address !== undefined && isGroup(address) && groups.length === 0)
              return { input, resolved: true, id: address, note: "not checked: the account is not connected" };
            return { input, resolved: false, note: same.length > 1 ? "several groups have this name; use the id" : "this account is not in this group" };
          }
          if (address === undefined || isGroup(address))
            return { input, resolved: false, note: "not a phone number: use one with its country code, such as +491701234567" };
          const socket = live.get(id)?.socket;
          if (!socket || address.endsWith("@lid")) return { input, resolved: true, id: address, note: "not checked" };
          const [found] = (await socket.onWhatsApp(address)) ?? [];
          return found?.exists ? { input, resolved: true, id: address } : { input, resolved: false, note: "this number is not on WhatsApp" };
        }),
      );
    },
  };
}
