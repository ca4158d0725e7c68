/**
 * The servers that the bot is in. The configuration names one by its id, or by its name as a slug (`friends-of-claw`) where no other server of the bot has the
 * same: the owner of a server chooses its name.
 */
import { normalizeChannelSlug } from "openclaw/plugin-sdk";
import { type Fields, fieldsOf, listOf, textOf } from "openclaw/plugin-sdk/channel-kit";
import type { Rest } from "./rest.ts";

export interface Servers {
  /** Reads what an event says about servers. */
  apply(type: string, data: Fields): void;
  /** Asks which servers there are, unless that is known. */
  load(rest: Rest): Promise<void>;
  nameOf(guildId: string): string | undefined;
  /** By its id or its name. Undefined: unknown, or several have that name. */
  idOf(space: string): string | undefined;
  /** Undefined: it has no usable name, or another server has the same. */
  slugOf(guildId: string): string | undefined;
  /** Keys of `guilds` that match no server, each with the reason. None while the servers are unknown. */
  unmatched(guilds: Fields): readonly string[];
}

const PAGE = 200;
const MAX_PAGES = 10;

const isId = (key: string): boolean => /^\d+$/.test(key);
const isName = (key: string): boolean => key !== "*" && !isId(key);

/** Whether servers are named in another way than by their ids. */
export const usesNames = (guilds: Fields): boolean => Object.keys(guilds).some(isName);

/** The key of a server's section. */
export function guildKeyOf(guilds: Fields, guildId: string, slug: string | undefined): string | undefined {
  if (Object.hasOwn(guilds, guildId)) return guildId;
  return slug === undefined ? undefined : Object.keys(guilds).find((key) => isName(key) && key.toLowerCase() === slug);
}

export function createServers(): Servers {
  /** Names by id. */
  const servers = new Map<string, string>();
  let isLoaded = false;
  let asking: Promise<void> | undefined;

  const slug = (guildId: string): string => normalizeChannelSlug(servers.get(guildId) ?? "");
  const named = (wanted: string): string[] => [...servers.keys()].filter((id) => slug(id) === wanted);

  async function ask(rest: Rest): Promise<void> {
    for (let page = 0, after = "0"; page < MAX_PAGES; page += 1) {
      const found = listOf(await rest.call("GET", "/users/@me/guilds", { query: { limit: PAGE, after } }));
      for (const raw of found) apply("GUILD_CREATE", fieldsOf(raw) ?? {});
      after = textOf(fieldsOf(found.at(-1))?.["id"]) ?? after;
      if (found.length < PAGE) break;
    }
    isLoaded = true;
  }

  function apply(type: string, data: Fields): void {
    const id = textOf(data["id"]);
    if (id === undefined || data["unavailable"] === true) return;
    if (type === "GUILD_DELETE") servers.delete(id);
    else if (type === "GUILD_CREATE" || type === "GUILD_UPDATE") servers.set(id, textOf(data["name"]) ?? servers.get(id) ?? "");
  }

  function reasonAgainst(key: string): string | undefined {
    if (isId(key)) return servers.has(key) ? undefined : "the bot is not in that server";
    const { length } = named(key.toLowerCase());
    return length === 1 ? undefined : length === 0 ? "the bot is in no server of that name" : "several servers have that name; use the id";
  }

  return {
    apply,
    async load(rest) {
      if (!isLoaded) await (asking ??= ask(rest).finally(() => (asking = undefined)));
    },
    idOf(space) {
      if (servers.has(space)) return space;
      const found = [...servers].filter(([, name]) => name === space);
      return found.length === 1 ? found[0]![0] : undefined;
    },
    nameOf: (guildId) => servers.get(guildId) || undefined,
    slugOf(guildId) {
      const own = slug(guildId);
      return own === "" || isId(own) || named(own).length > 1 ? undefined : own;
    },
    unmatched(guilds) {
      const keys = isLoaded ? Object.keys(guilds).filter((key) => key !== "*") : [];
      return keys.flatMap((key) => {
        const why = reasonAgainst(key);
        return why === undefined ? [] : [`guilds[${JSON.stringify(key)}]: ${why}`];
      });
    },
  };
}
