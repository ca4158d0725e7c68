/** Who and what can be written to: from the configuration, and from the servers that the bot is in. */
import { type ChannelPlugin, listDiscordDirectoryGroupsFromConfig, listDiscordDirectoryPeersFromConfig } from "openclaw/plugin-sdk";
import { type Fields, fieldsOf, listOf, numberOf, textOf, unfit } from "openclaw/plugin-sdk/channel-kit";
import { bareId } from "./account.ts";
import type { Accounts } from "./accounts.ts";
import { nameOf } from "./inbound/chat.ts";
import { codeOf, type Rest } from "./rest.ts";

type Directory = NonNullable<ChannelPlugin["directory"]>;
type Resolver = NonNullable<ChannelPlugin["resolver"]>;

const MAX_GUILDS = 20;
const MAX_LISTED = 200;
const WRITABLE: ReadonlySet<number> = new Set([0, 5, 15, 16]);

const rows = (answer: unknown): Fields[] => listOf(answer).flatMap((raw) => (fieldsOf(raw) ? [fieldsOf(raw)!] : []));

async function guildsOf(rest: Rest): Promise<{ readonly id: string; readonly name: string }[]> {
  const found = rows(await rest.call("GET", "/users/@me/guilds", { query: { limit: MAX_LISTED } }));
  return found.slice(0, MAX_GUILDS).flatMap((guild) => {
    const id = textOf(guild["id"]);
    return id === undefined ? [] : [{ id, name: textOf(guild["name"]) ?? id }];
  });
}

interface FoundChannel {
  readonly id: string;
  readonly name: string;
  readonly guild: string;
}

async function channelsOf(rest: Rest): Promise<FoundChannel[]> {
  const perGuild = await Promise.all(
    (await guildsOf(rest)).map(async ({ id, name: guild }) => {
      const channels = rows(await rest.call("GET", `/guilds/${id}/channels`).catch(() => []));
      return channels.flatMap((channel) => {
        const [channelId, name] = [textOf(channel["id"]), textOf(channel["name"])];
        return channelId === undefined || name === undefined || !WRITABLE.has(numberOf(channel["type"]) ?? -1) ? [] : [{ id: channelId, name, guild }];
      });
    }),
  );
  return perGuild.flat();
}

interface FoundMember {
  readonly id: string;
  readonly name: string | undefined;
  readonly handle: string | undefined;
}

/** Discord finds people by the beginning of a name, server by server. */
async function membersLike(rest: Rest, query: string): Promise<FoundMember[]> {
  const perGuild = await Promise.all(
    (await guildsOf(rest)).map(async ({ id }) => rows(await rest.call("GET", `/guilds/${id}/members/search`, { query: { query, limit: 25 } }).catch(() => []))),
  );
  const found = perGuild.flat().flatMap((member) => memberOf(fieldsOf(member["user"]), member));
  return [...new Map(found.map((member) => [member.id, member])).values()];
}

const fits = (query: string | null | undefined, ...texts: (string | undefined)[]): boolean => {
  const wanted = query?.trim().replace(/^[#@]/, "").toLowerCase() ?? "";
  return wanted === "" || texts.some((text) => text?.toLowerCase().includes(wanted));
};

export function createDirectory(accounts: Accounts): Directory {
  const restFor = (cfg: Parameters<Accounts["sender"]>[0], accountId: string | null | undefined): Rest => accounts.sender(cfg, accountId).rest;
  return {
    async self({ cfg, accountId }) {
      const me = await restFor(cfg, accountId).fields("GET", "/users/@me");
      return { kind: "user", id: textOf(me["id"]) ?? "", name: nameOf(me), handle: textOf(me["username"]) };
    },
    listPeers: listDiscordDirectoryPeersFromConfig,
    listGroups: listDiscordDirectoryGroupsFromConfig,
    async listPeersLive({ cfg, accountId, query, limit }) {
      if (!query?.trim()) return [];
      const found = await membersLike(restFor(cfg, accountId), query.trim().replace(/^@/, ""));
      return found.slice(0, limit ?? MAX_LISTED).map(({ id, name, handle }) => ({ kind: "user", id: `user:${id}`, name, handle }));
    },
    async listGroupsLive({ cfg, accountId, query, limit }) {
      const found = await channelsOf(restFor(cfg, accountId));
      return found
        .filter(({ id, name, guild }) => fits(query, id, name, `${guild}/${name}`))
        .slice(0, limit ?? MAX_LISTED)
        .map(({ id, name, guild }) => ({ kind: "channel", id: `channel:${id}`, name: `${guild} #${name}`, handle: `#${name}` }));
    },
    async listGroupMembers({ cfg, accountId, groupId, limit }) {
      const rest = restFor(cfg, accountId);
      const found = await membersOf(rest, groupId, limit ?? MAX_LISTED);
      return found.map(({ id, name, handle }) => ({ kind: "user", id: `user:${id}`, name, handle }));
    },
  };
}

const SOME_MEMBERS = 1000;
const MISSING_ACCESS = 50_001;

/** People of a group chat, or of the server that a channel belongs to. Discord lists the latter only to bots with the Server Members intent. */
async function membersOf(rest: Rest, groupId: string, limit: number): Promise<FoundMember[]> {
  const [, id] = /^(?:discord:)?(?:channel:|group:|<#)?(\d+)>?$/i.exec(groupId.trim()) ?? [];
  if (id === undefined) throw unfit("directory", `"${groupId}" is not a Discord channel; use channel:<id>, which openclaw directory groups list shows`);
  const channel = await rest.fields("GET", `/channels/${id}`);
  const guildId = textOf(channel["guild_id"]);
  const people = guildId === undefined ? listOf(channel["recipients"]) : [];
  const members = guildId === undefined ? [] : await guildMembers(rest, guildId, limit);
  return [...people.map((user) => memberOf(fieldsOf(user))), ...members.map((member) => memberOf(fieldsOf(member["user"]), member))].flat().slice(0, limit);
}

async function guildMembers(rest: Rest, guildId: string, limit: number): Promise<Fields[]> {
  try {
    return rows(await rest.call("GET", `/guilds/${guildId}/members`, { query: { limit: Math.min(limit, SOME_MEMBERS) } }));
  } catch (error) {
    if (codeOf(error) !== MISSING_ACCESS) throw error;
    throw unfit("directory", "Discord does not list the members to this bot: turn on Server Members Intent on the page Bot of the developer portal");
  }
}

function memberOf(user: Fields | undefined, member?: Fields): FoundMember[] {
  const id = textOf(user?.["id"]);
  return id === undefined ? [] : [{ id, name: nameOf(user, member), handle: textOf(user?.["username"]) }];
}

/** Exactly one must be meant: a name that several have names nobody. */
function onlyOne<T extends { readonly id: string }>(found: readonly T[], input: string, describe: (one: T) => string | undefined) {
  const [one, more] = found;
  if (!one) return { input, resolved: false, note: "not found in the bot's servers" };
  if (more) return { input, resolved: false, note: `ambiguous name: ${found.map(({ id }) => id).join(", ")}` };
  return { input, resolved: true, id: one.id, name: describe(one) };
}

export function createResolver(accounts: Accounts): Resolver {
  return {
    async resolveTargets({ cfg, accountId, inputs, kind }) {
      const { rest } = accounts.sender(cfg, accountId);
      const channels = kind === "group" && inputs.some((input) => !/^(?:channel:|<#)?\d+>?$/.test(input.trim())) ? await channelsOf(rest) : [];
      return Promise.all(
        inputs.map(async (input) => {
          const bare = kind === "user" ? bareId(input) : input.trim().replace(/^(?:channel:|<#)(\d+)>?$/, "$1");
          if (/^\d+$/.test(bare)) return { input, resolved: true, id: bare };
          const wanted = bare.replace(/^[@#]/, "").toLowerCase();
          if (kind === "user") {
            const found = (await membersLike(rest, wanted)).filter(({ name, handle }) => [name, handle].some((text) => text?.toLowerCase() === wanted));
            return onlyOne(found, input, ({ name, handle }) => name ?? handle);
          }
          const found = channels.filter(({ name, guild }) => [name, `${guild}/${name}`, `${guild}/#${name}`].some((text) => text.toLowerCase() === wanted));
          return onlyOne(found, input, ({ name, guild }) => `${guild} #${name}`);
        }),
      );
    },
  };
}
