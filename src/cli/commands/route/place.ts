import { AppError } from "../../../base/errors.ts";
import { nearest } from "../../../base/text.ts";
import type { PeerKind, RoutePeer, RouteLocation } from "../../../routing/index.ts";

/** Words for kinds of chats that a person may write. */
const KINDS: Readonly<Record<string, PeerKind>> = { user: "direct", direct: "direct", dm: "direct", group: "group", channel: "channel" };

function readPeer(option: string, written: string): RoutePeer {
  const colon = written.indexOf(":");
  const word = written.slice(0, Math.max(colon, 0)).trim().toLowerCase();
  const kind = Object.hasOwn(KINDS, word) ? KINDS[word] : undefined;
  const id = written.slice(colon + 1);
  if (kind !== undefined && id !== "") return { kind, id };
  const meant = kind === undefined && colon > 0 ? nearest(word, Object.keys(KINDS)) : undefined;
  const advice = meant === undefined ? "such as user:123, group:-1001 or channel:C042" : `did you mean ${meant}:${id}?`;
  throw new AppError("INVALID_INPUT", `--${option}: expected a kind and an id, found ${JSON.stringify(written)}; ${advice}`);
}

/** What the user said about a message. */
export interface WrittenPlace {
  readonly channel?: string;
  readonly account?: string;
  readonly peer?: string;
  readonly group?: string;
  readonly parent?: string;
  readonly thread?: string;
  readonly guild?: string;
  readonly team?: string;
  readonly role?: readonly string[];
}

/** The chat that the options name. With `--group` it is the group, regardless of the sender. */
export function chatFromOptions(values: WrittenPlace): RouteLocation {
  const { channel, account, peer, group, parent, thread, guild, team, role } = values;
  if (channel === undefined || channel.trim() === "") {
    throw new AppError("INVALID_INPUT", "--channel is missing: say where the message is written, such as --channel telegram");
  }
  const sender = peer === undefined ? undefined : readPeer("peer", peer);
  if (group !== undefined && sender && sender.kind !== "direct") {
    throw new AppError("INVALID_INPUT", `--group and --peer ${sender.kind}:${sender.id} name two chats: give one of them`);
  }
  if (group === "") throw new AppError("INVALID_INPUT", "--group: expected the id of a group, found nothing");
  const chat: RoutePeer | undefined = group === undefined ? sender : { kind: "group", id: group };
  if (!chat && (thread !== undefined || parent !== undefined)) {
    throw new AppError("INVALID_INPUT", "a thread is part of a chat: name it with --peer or --group");
  }
  return {
    channel,
    accountId: account,
    peer: chat,
    parentPeer: parent === undefined ? undefined : readPeer("parent", parent),
    threadId: thread,
    guildId: guild,
    teamId: team,
    roles: role,
  };
}
