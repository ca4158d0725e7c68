/** What Discord says about an account, and what its permissions lack. */
import type { ChannelAccountSnapshot, ChannelPlugin } from "openclaw/plugin-sdk";
import { collectDiscordAuditChannelIds, collectDiscordStatusIssues } from "openclaw/plugin-sdk";
import { type ChannelProbe, type Fields, fieldsOf, listOf, messageOf, numberOf, runProbe, textOf, textsOf } from "openclaw/plugin-sdk/channel-kit";
import type { DiscordAccount } from "./account.ts";
import type { Rest } from "./rest.ts";

export interface DiscordProbe extends ChannelProbe {
  readonly bot?: { readonly id: string | undefined; readonly username: string | undefined } | undefined;
  readonly application?: { readonly id: string | undefined; readonly intents: Intents } | undefined;
}

type IntentState = "enabled" | "limited" | "disabled";
interface Intents {
  readonly presence: IntentState;
  readonly guildMembers: IntentState;
  readonly messageContent: IntentState;
}

/** Two bits for each: granted, or granted while the bot is in few servers. */
export function intentsIn(flags: number): Intents {
  const state = (full: number, limited: number): IntentState => (flags & (1 << full) ? "enabled" : flags & (1 << limited) ? "limited" : "disabled");
  return { presence: state(12, 13), guildMembers: state(14, 15), messageContent: state(18, 19) };
}

export const probe = (rest: Rest, timeoutMs: number): Promise<DiscordProbe> =>
  runProbe(async () => {
    const me = await rest.fields("GET", "/users/@me", { timeoutMs });
    const application = await rest.fields("GET", "/oauth2/applications/@me", { timeoutMs }).catch(() => undefined);
    return {
      bot: { id: textOf(me["id"]), username: textOf(me["username"]) },
      ...(application ? { application: { id: textOf(application["id"]), intents: intentsIn(numberOf(application["flags"]) ?? 0) } } : {}),
    };
  });

const PERMISSIONS = {
  ViewChannel: 10n,
  SendMessages: 11n,
  EmbedLinks: 14n,
  AttachFiles: 15n,
  ReadMessageHistory: 16n,
  AddReactions: 6n,
  SendMessagesInThreads: 38n,
} as const;
const ADMINISTRATOR = 1n << 3n;
const NEEDED = ["ViewChannel", "SendMessages", "ReadMessageHistory"] as const;

const bits = (value: unknown): bigint => BigInt(typeof value === "string" && /^\d+$/.test(value) ? value : "0");

/** Denied, then allowed. */
const applied = (base: bigint, overwrite: Fields | undefined): bigint => (base & ~bits(overwrite?.["deny"])) | bits(overwrite?.["allow"]);

/** The bot's permissions in a channel, as Discord computes them: everyone, roles, then what the channel changes. */
export function permissionsIn(guild: Fields, member: Fields, channel: Fields): bigint {
  const guildId = textOf(guild["id"]) ?? "";
  const userId = textOf(fieldsOf(member["user"])?.["id"]);
  const held = new Set([guildId, ...textsOf(member["roles"])]);
  const roles = listOf(guild["roles"]).flatMap((role) => (held.has(textOf(fieldsOf(role)?.["id"]) ?? "") ? [fieldsOf(role)!] : []));
  const base = roles.reduce((sum, role) => sum | bits(role["permissions"]), 0n);
  if ((base & ADMINISTRATOR) !== 0n || textOf(guild["owner_id"]) === userId) return ~0n;
  const overwrites = listOf(channel["permission_overwrites"]).flatMap((raw) => fieldsOf(raw) ?? []) as Fields[];
  const of = (id: string | undefined): Fields | undefined => overwrites.find((overwrite) => overwrite["id"] === id);
  const forRoles = overwrites.filter((overwrite) => overwrite["id"] !== guildId && held.has(String(overwrite["id"])));
  const roleChange = {
    deny: String(forRoles.reduce((sum, one) => sum | bits(one["deny"]), 0n)),
    allow: String(forRoles.reduce((sum, one) => sum | bits(one["allow"]), 0n)),
  };
  return applied(applied(applied(base, of(guildId)), roleChange), of(userId));
}

export const permissionNames = (value: bigint): string[] => Object.entries(PERMISSIONS).flatMap(([name, bit]) => ((value & (1n << bit)) === 0n ? [] : [name]));

/** The bot's permissions in a channel, asked for. */
export async function askPermissions(rest: Rest, channelId: string, timeoutMs?: number): Promise<{ readonly raw: string; readonly permissions: string[] }> {
  const options = timeoutMs === undefined ? {} : { timeoutMs };
  const channel = await rest.fields("GET", `/channels/${channelId}`, options);
  const guildId = textOf(channel["guild_id"]);
  if (guildId === undefined) return { raw: "0", permissions: ["ViewChannel", "SendMessages"] };
  const me = await rest.fields("GET", "/users/@me", options);
  const [guild, member] = await Promise.all([
    rest.fields("GET", `/guilds/${guildId}`, options),
    rest.fields("GET", `/guilds/${guildId}/members/${textOf(me["id"]) ?? ""}`, options),
  ]);
  // A thread has the permissions of its channel.
  const parentId = textOf(channel["parent_id"]);
  const isThread = (numberOf(channel["type"]) ?? 0) >= 10 && (numberOf(channel["type"]) ?? 0) <= 12;
  const source = isThread && parentId !== undefined ? await rest.fields("GET", `/channels/${parentId}`, options) : channel;
  const value = permissionsIn(guild, member, source);
  return { raw: String(value < 0n ? ADMINISTRATOR : value), permissions: permissionNames(value) };
}

const MAX_AUDITED = 50;

export async function audit(
  rest: Rest,
  account: DiscordAccount,
  cfg: Parameters<ChannelPlugin["config"]["listAccountIds"]>[0],
  timeoutMs: number,
): Promise<object> {
  const { channelIds, unresolvedChannels } = collectDiscordAuditChannelIds({ cfg, accountId: account.accountId });
  const channels = await Promise.all(
    channelIds.slice(0, MAX_AUDITED).map(async (channelId) => {
      try {
        const { permissions } = await askPermissions(rest, channelId, timeoutMs);
        const missing = NEEDED.filter((name) => !permissions.includes(name));
        return { channelId, ok: missing.length === 0, missing };
      } catch (error) {
        return { channelId, ok: false, missing: [], error: messageOf(error) };
      }
    }),
  );
  return { ok: channels.every(({ ok }) => ok), channels, unresolvedChannels };
}

/** What the kit does not know: intents and permissions. */
export const ownIssues = (snapshot: ChannelAccountSnapshot) => {
  const probed = fieldsOf(snapshot.probe);
  const application = fieldsOf(snapshot.application) ?? fieldsOf(probed?.["application"]);
  const unmatched = textsOf(fieldsOf(snapshot.audit)?.["unmatched"]);
  return [
    ...unmatched.map((text) => ({
      kind: "config" as const,
      message: `channels.discord.${text}`,
      fix: "Invite the bot to that server, or correct the entry; servers are listed by id, or by name as a slug such as friends-of-claw",
    })),
    ...collectDiscordStatusIssues([{ ...snapshot, application }]).map(({ channel: _channel, accountId: _account, ...issue }) => issue),
  ];
};
