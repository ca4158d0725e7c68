/** Who and what can be written to: from the configuration, and chats that wrote. The Bot API lists neither chats nor people. */
import { type ChannelPlugin, listTelegramDirectoryGroupsFromConfig, listTelegramDirectoryPeersFromConfig } from "openclaw/plugin-sdk";
import { asChannelError, defined, matching, textOf } from "openclaw/plugin-sdk/channel-kit";
import type { Accounts } from "./accounts.ts";
import { nameOf } from "./inbound/chat.ts";
import type { Records, SeenChat } from "./records.ts";

type Directory = NonNullable<ChannelPlugin["directory"]>;
type Resolver = NonNullable<ChannelPlugin["resolver"]>;
type Listing = Parameters<NonNullable<Directory["listPeersLive"]>>[0];

const entryOf = ({ id, isGroup, name, username }: SeenChat) =>
  defined({ kind: isGroup ? ("group" as const) : ("user" as const), id, name, handle: username === undefined ? undefined : `@${username}` });

export function createDirectory(accounts: Accounts, records: Records): Directory {
  async function seen(params: Listing, isGroup: boolean) {
    const { accountId } = accounts.account(params.cfg, params.accountId);
    await records.load(accountId);
    const wrote = records.chats(accountId, isGroup).map(entryOf);
    const listed = await (isGroup ? listTelegramDirectoryGroupsFromConfig : listTelegramDirectoryPeersFromConfig)({ ...params, query: null, limit: null });
    return matching([...wrote, ...listed.filter(({ id }) => !wrote.some((chat) => chat.id === id))], params);
  }
  return {
    async self({ cfg, accountId }) {
      const me = await accounts.sender(cfg, accountId).client.call("getMe", {});
      return { kind: "user", id: String(me.id), name: me.first_name, handle: me.username };
    },
    listPeers: listTelegramDirectoryPeersFromConfig,
    listGroups: listTelegramDirectoryGroupsFromConfig,
    listPeersLive: (params) => seen(params, false),
    listGroupsLive: (params) => seen(params, true),
  };
}

const ABSENT = {
  user: "Telegram finds people by their id only: ask them to write to the bot, or to send it /whoami",
  group: "no such public group, and no group of that name wrote to the bot",
} as const;

/** Numbers are ids. Names are looked for among chats that wrote; a public group is asked for as well. */
export function createResolver(accounts: Accounts, records: Records): Resolver {
  return {
    async resolveTargets({ cfg, accountId, inputs, kind }) {
      const { client, account } = accounts.sender(cfg, accountId);
      await records.load(account.accountId);
      const known = records.chats(account.accountId, kind === "group");
      async function publicGroup(name: string) {
        if (!/^[a-z]\w{4,31}$/i.test(name)) return undefined;
        try {
          const chat = await client.call("getChat", { chat_id: `@${name}` });
          return chat.type === "private" ? undefined : { id: String(chat.id), name: nameOf({ ...chat }) ?? textOf(chat.username) };
        } catch (error) {
          if (asChannelError(error)?.delivery.state !== "failed") throw error;
          return undefined;
        }
      }
      return Promise.all(
        inputs.map(async (input) => {
          const bare = input
            .trim()
            .replace(/^(?:(?:telegram|tg|group|user):)+/i, "")
            .replace(/^(?:https?:\/\/)?t\.me\//i, "@");
          if (/^-?\d{1,16}$/.test(bare)) return { input, resolved: true, id: bare };
          const wanted = bare.replace(/^@/, "").toLowerCase();
          const found = known.filter(({ name, username }) => [username, ...(bare.startsWith("@") ? [] : [name])].some((one) => one?.toLowerCase() === wanted));
          if (found.length > 1) return { input, resolved: false, note: `several have this name: ${found.map(({ id }) => id).join(", ")}` };
          const [only = kind === "group" ? await publicGroup(wanted) : undefined] = found;
          return only ? defined({ input, resolved: true, id: only.id, name: only.name }) : { input, resolved: false, note: ABSENT[kind] };
        }),
      );
    },
  };
}
