import { tierOf, type Binding, type Tier } from "./bindings.ts";
import type { Chat, ChatPeer } from "./chat.ts";

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
