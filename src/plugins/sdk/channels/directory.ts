/** Whom the configuration names: the directory of a channel while it is not connected. */
import type { ChannelDirectoryEntry, ConfigSection, HostConfig } from "../../../protocol/index.ts";
import { recordOf } from "../account-ids.ts";
import { resolveDiscordAccount, resolveSlackAccount, resolveTelegramAccount, resolveWhatsAppAccount } from "./accounts.ts";
import { isWhatsAppGroupJid, normalizeSlackMessagingTarget, normalizeWhatsAppTarget } from "./targets.ts";

export interface DirectoryConfigParams {
  cfg: HostConfig;
  accountId?: string | null | undefined;
  query?: string | null | undefined;
  limit?: number | null | undefined;
}

type Listing = (params: DirectoryConfigParams) => Promise<ChannelDirectoryEntry[]>;

const texts = (value: unknown) => (Array.isArray(value) ? value.map((entry) => String(entry).trim()).filter((entry) => entry && entry !== "*") : []);
const keys = (value: unknown) => Object.keys(recordOf(value) ?? {}).filter((key) => key.trim() && key !== "*");
const values = (value: unknown) => Object.values(recordOf(value) ?? {}).map((entry) => recordOf(entry) ?? {});

/** The names in their one spelling, each once; those that contain the query, up to the limit. */
function listing(
  kind: "user" | "group",
  names: (params: DirectoryConfigParams) => readonly string[],
  spell: (name: string) => string | undefined | null,
): Listing {
  return async (params) => {
    const query = params.query?.trim().toLowerCase() ?? "";
    const ids = [...new Set(names(params).flatMap((name) => spell(name) || []))].filter((id) => id.toLowerCase().includes(query));
    return (params.limit && params.limit > 0 ? ids.slice(0, params.limit) : ids).map((id) => ({ kind, id }) as const);
  };
}

const dmPeople = (config: ConfigSection) => [...texts(config["allowFrom"] ?? recordOf(config["dm"])?.["allowFrom"]), ...keys(config["dms"])];

const discordId = (name: string, prefix: "user" | "channel") => {
  const id = name
    .replace(/^<[@#]!?(\d+)>$/, "$1")
    .replace(/^(?:discord|user|channel|group):/i, "")
    .trim();
  return /^\d+$/.test(id) ? `${prefix}:${id}` : undefined;
};

const discordRooms = (config: ConfigSection) => values(config["guilds"]).flatMap((guild) => values(guild["channels"]));

export const listDiscordDirectoryPeersFromConfig = listing(
  "user",
  (params) => {
    const { config } = resolveDiscordAccount(params);
    return [...dmPeople(config), ...[...values(config["guilds"]), ...discordRooms(config)].flatMap((place) => texts(place["users"]))];
  },
  (name) => discordId(name, "user"),
);

export const listDiscordDirectoryGroupsFromConfig = listing(
  "group",
  (params) => values(resolveDiscordAccount(params).config["guilds"]).flatMap((guild) => keys(guild["channels"])),
  (name) => discordId(name, "channel"),
);

export const listSlackDirectoryPeersFromConfig = listing(
  "user",
  (params) => {
    const { config } = resolveSlackAccount(params);
    return [...dmPeople(config), ...values(config["channels"]).flatMap((room) => texts(room["users"]))];
  },
  (name) => {
    const id = name
      .replace(/^<@([A-Z0-9]+)>$/i, "$1")
      .replace(/^(?:slack|user):/i, "")
      .trim();
    return id ? normalizeSlackMessagingTarget(`user:${id}`) : undefined;
  },
);

export const listSlackDirectoryGroupsFromConfig = listing(
  "group",
  (params) => keys(resolveSlackAccount(params).config["channels"]),
  (name) => {
    const id = /^[#@]?[A-Z0-9]+$/i.test(name) || !/^[#@]/.test(name) ? normalizeSlackMessagingTarget(name) : undefined;
    return id?.startsWith("channel:") ? id : undefined;
  },
);

export const listTelegramDirectoryPeersFromConfig = listing(
  "user",
  (params) => dmPeople(resolveTelegramAccount(params).config),
  (name) => {
    const id = name.replace(/^(?:telegram|tg):/i, "").trim();
    return /^-?\d+$/.test(id) || id.startsWith("@") ? id : `@${id}`;
  },
);

export const listTelegramDirectoryGroupsFromConfig = listing(
  "group",
  (params) => keys(resolveTelegramAccount(params).config["groups"]),
  (name) => name.trim(),
);

export const listWhatsAppDirectoryPeersFromConfig = listing(
  "user",
  (params) => texts(resolveWhatsAppAccount(params).allowFrom),
  (name) => {
    const target = normalizeWhatsAppTarget(name);
    return target && !isWhatsAppGroupJid(target) ? target : undefined;
  },
);

export const listWhatsAppDirectoryGroupsFromConfig = listing(
  "group",
  (params) => keys(resolveWhatsAppAccount(params).groups),
  (name) => name.trim(),
);
