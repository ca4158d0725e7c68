/** The agents and bindings of a configuration, and finding the bindings that match a chat. */
import { channelKey, defaultAgentId, type OpenClawConfig } from "../config/index.ts";
import { canonicalChatType } from "../channels/index.ts";
import { accountKey, type Chat, type ChatPeer } from "./chat.ts";

/** Agent ids in comparable form. */
export const agentKey = (id: string): string => id.trim().toLowerCase();

export interface Agents {
  readonly ids: ReadonlySet<string>;
  /** Answers where no binding matches. */
  readonly defaultId: string;
}

/** The configured agents; one called `main` when there are none. */
export function readAgents(config: OpenClawConfig): Agents {
  const list = config.agents?.list ?? [];
  return { ids: new Set(list.length > 0 ? list.map(({ id }) => agentKey(id)) : ["main"]), defaultId: defaultAgentId(config) };
}

/** Tiers of bindings, most specific first. */
export const TIERS = [
  "binding.peer",
  "binding.peer.parent",
  "binding.guild+roles",
  "binding.guild",
  "binding.team",
  "binding.account",
  "binding.channel",
] as const;

export type Tier = (typeof TIERS)[number];

/** Why an agent was chosen. */
export type MatchedBy = Tier | "default";

/** One parsed item of `bindings`. An undefined field matches everything. */
export interface Binding {
  /** Its index in the list. */
  readonly index: number;
  readonly agentId: string;
  readonly channel: string;
  /** Undefined means any account (`*`). */
  readonly accountId: string | undefined;
  readonly peer: ChatPeer | undefined;
  readonly guildId: string | undefined;
  readonly teamId: string | undefined;
  /** One of them is enough. */
  readonly roles: readonly string[] | undefined;
}

/** The bindings of a configuration, in their order. */
export function readBindings(config: OpenClawConfig): readonly Binding[] {
  return (config.bindings ?? []).map(({ agentId, match }, index) => ({
    index,
    agentId: agentKey(agentId),
    channel: channelKey(match.channel),
    accountId: match.accountId?.trim() === "*" ? undefined : accountKey(match.accountId),
    peer: match.peer && { kind: canonicalChatType(match.peer.kind) ?? "group", id: match.peer.id.trim() },
    guildId: match.guildId?.trim() || undefined,
    teamId: match.teamId?.trim() || undefined,
    roles: match.roles && match.roles.length > 0 ? match.roles : undefined,
  }));
}

/** True when two bindings match the same messages. */
export function isSameMatch(a: Binding, b: Binding): boolean {
  const rolesOf = ({ roles }: Binding): string => JSON.stringify([...new Set(roles ?? [])].sort());
  return keyOf({ ...a, role: undefined }) === keyOf({ ...b, role: undefined }) && rolesOf(a) === rolesOf(b);
}

/** The tier that a binding belongs to; one with a peer counts for threads of that peer, too. */
export function tierOf(binding: Binding): Exclude<Tier, "binding.peer.parent"> {
  if (binding.peer) return "binding.peer";
  if (binding.guildId !== undefined) return binding.roles ? "binding.guild+roles" : "binding.guild";
  if (binding.teamId !== undefined) return "binding.team";
  return binding.accountId === undefined ? "binding.channel" : "binding.account";
}

/** Why a tier cannot have a binding for a chat; undefined when it is searched. */
export function notLookedAt(tier: Tier, chat: Chat): string | undefined {
  switch (tier) {
    case "binding.peer":
      return chat.peer ? undefined : "the message has no chat";
    case "binding.peer.parent":
      return chat.parent ? undefined : "the chat is not a thread of another";
    case "binding.guild+roles":
      return chat.guildId === undefined ? "the message has no server" : chat.roles.length === 0 ? "the sender has no roles" : undefined;
    case "binding.guild":
      return chat.guildId === undefined ? "the message has no server" : undefined;
    case "binding.team":
      return chat.teamId === undefined ? "the message has no team" : undefined;
    default:
      return undefined;
  }
}

/** Finds bindings by their fields, without going through them. */
export interface BindingIndex {
  /** The first binding of a tier that matches a chat, and the number of index lookups: it does not depend on the number of bindings. */
  find(tier: Tier, chat: Chat): { readonly binding: Binding | undefined; readonly lookups: number };
}

/** Which fields a binding uses. Bindings of a shape are found with one key per role of the sender. */
interface Shape {
  readonly account: boolean;
  readonly peer: boolean;
  readonly guild: boolean;
  readonly team: boolean;
  readonly roles: boolean;
}

interface KeyFields {
  readonly channel: string;
  readonly accountId: string | undefined;
  readonly peer: ChatPeer | undefined;
  readonly guildId: string | undefined;
  readonly teamId: string | undefined;
  readonly role: string | undefined;
}

/** Values come from strangers: with length prefixes none can look like two. */
const field = (value: string | undefined): string => (value === undefined ? "-" : `${value.length}:${value}`);

function keyOf({ channel, accountId, peer, guildId, teamId, role }: KeyFields): string {
  return `${field(channel)}${field(accountId)}${peer ? peer.kind : "-"}${field(peer?.id)}${field(guildId)}${field(teamId)}${field(role)}`;
}

function shapeOf({ accountId, peer, guildId, teamId, roles }: Binding): Shape {
  return { account: accountId !== undefined, peer: peer !== undefined, guild: guildId !== undefined, team: teamId !== undefined, roles: roles !== undefined };
}

const nameOf = ({ account, peer, guild, team, roles }: Shape): string => `${account} ${peer} ${guild} ${team} ${roles}`;

/** The fields that bindings of a shape must have to match; nothing when the chat lacks one. */
function* wantedBy(shape: Shape, chat: Chat, peer: ChatPeer | undefined): Generator<KeyFields> {
  if ((shape.peer && !peer) || (shape.guild && chat.guildId === undefined) || (shape.team && chat.teamId === undefined)) return;
  const wanted = {
    channel: chat.channel,
    accountId: shape.account ? chat.accountId : undefined,
    peer: shape.peer ? peer : undefined,
    guildId: shape.guild ? chat.guildId : undefined,
    teamId: shape.team ? chat.teamId : undefined,
  };
  if (!shape.roles) yield { ...wanted, role: undefined };
  else for (const role of chat.roles) yield { ...wanted, role };
}

export function createBindingIndex(bindings: readonly Binding[]): BindingIndex {
  const first = new Map<string, Binding>();
  const shapes = new Map<Tier, Map<string, Shape>>();
  for (const binding of bindings) {
    const shape = shapeOf(binding);
    const ofTier = shapes.get(tierOf(binding)) ?? new Map<string, Shape>();
    shapes.set(tierOf(binding), ofTier.set(nameOf(shape), shape));
    for (const role of binding.roles ?? [undefined]) {
      const key = keyOf({ ...binding, role });
      if (!first.has(key)) first.set(key, binding);
    }
  }
  return {
    find(tier, chat) {
      const isParent = tier === "binding.peer.parent";
      const peer = isParent ? chat.parent : chat.peer;
      let best: Binding | undefined;
      let lookups = 0;
      for (const shape of shapes.get(isParent ? "binding.peer" : tier)?.values() ?? []) {
        for (const wanted of wantedBy(shape, chat, peer)) {
          lookups += 1;
          const found = first.get(keyOf(wanted));
          if (found && (best === undefined || found.index < best.index)) best = found;
        }
      }
      return { binding: best, lookups };
    },
  };
}
