import type { OpenClawConfig } from "../config/index.ts";
import type { Chat, ChatPeer } from "./chat.ts";
import { readLinks, type IdentityLinks } from "./identity-links.ts";
import { idPart, itself, namePart } from "./key-part.ts";

type DmScope = NonNullable<NonNullable<OpenClawConfig["session"]>["dmScope"]>;

/** How sessions are told apart, from the configuration's `session`. */
export interface SessionRules {
  readonly scope: "per-sender" | "global";
  readonly dmScope: DmScope;
  readonly links: IdentityLinks;
}

/** The sessions of one agent that a message concerns. */
export interface SessionKeys {
  /** Where the message belongs. */
  readonly sessionKey: string;
  /** The agent's main session. */
  readonly mainSessionKey: string;
  /** The session of the chat that a thread belongs to. */
  readonly parentSessionKey?: string;
}

const IN_GROUPS: ReadonlySet<string> = new Set(["thread", "topic"]);
/** Readers of keys look for `:group:` and `:channel:`, so neither may come out of a sender's id. */
const IN_DIRECT: ReadonlySet<string> = new Set(["thread", "topic", "group", "channel", "direct", "dm"]);
/** First words of sessions that are no chat on a channel. */
const CHANNELS: ReadonlySet<string> = new Set(
  "main direct dm group channel thread topic unknown global subagent cron hook acp openai openai-user openresponses-user".split(" "),
);
/** What stands where an account would. */
const ACCOUNTS: ReadonlySet<string> = new Set("direct dm group channel thread topic slash".split(" "));

/** Stands for an id that is not there; somebody who is called so is marked. */
const UNKNOWN = "unknown";

export function readSessionRules({ session }: OpenClawConfig): SessionRules {
  return { scope: session?.scope ?? "per-sender", dmScope: session?.dmScope ?? "main", links: readLinks(session?.identityLinks, IN_DIRECT) };
}

function present(part: string): string {
  return part === "" ? UNKNOWN : part === UNKNOWN ? itself(part) : part;
}

/** The person of `session.identityLinks` that a direct chat is with. */
export function linkedName({ channel, peer }: Chat, { dmScope, links }: SessionRules): string | undefined {
  return peer?.kind === "direct" && dmScope !== "main" ? links.nameOf(channel, idPart(peer.id, IN_DIRECT)) : undefined;
}

function directPart(chat: Chat, peer: ChatPeer, rules: SessionRules): string {
  const name = linkedName(chat, rules);
  if (name !== undefined) return present(name);
  const part = idPart(peer.id, IN_DIRECT);
  // Whoever takes the name of a linked person is not that person.
  return present(rules.links.isName(part) ? itself(part) : part);
}

function groupPart({ id, around }: ChatPeer): string {
  return around ? `${present(idPart(around.id, IN_GROUPS))}:topic:${present(idPart(around.topic, IN_GROUPS))}` : present(idPart(id, IN_GROUPS));
}

/** What stands after `agent:<id>:`. */
function restOf(chat: Chat, peer: ChatPeer | undefined, rules: SessionRules): string {
  const channel = chat.channel === "" ? UNKNOWN : namePart(chat.channel, CHANNELS);
  if (peer && peer.kind !== "direct") return `${channel}:${peer.kind}:${groupPart(peer)}`;
  if (!peer || rules.dmScope === "main") return "main";
  const part = directPart(chat, peer, rules);
  if (rules.dmScope === "per-peer") return `direct:${part}`;
  return rules.dmScope === "per-channel-peer" ? `${channel}:direct:${part}` : `${channel}:${namePart(chat.accountId, ACCOUNTS)}:direct:${part}`;
}

/** The keys of a chat's sessions with an agent. */
export function sessionKeys(agentId: string, chat: Chat, rules: SessionRules): SessionKeys {
  const keyOf = (rest: string): string => (rest === "main" && rules.scope === "global" ? "global" : `agent:${agentId}:${rest}`);
  const mainSessionKey = keyOf("main");
  const rest = restOf(chat, chat.peer, rules);
  if (chat.thread !== undefined) {
    const sessionKey = keyOf(`${rest}:thread:${idPart(chat.thread, IN_GROUPS)}`);
    return { sessionKey, mainSessionKey, parentSessionKey: keyOf(rest) };
  }
  const parent = chat.parent && keyOf(restOf(chat, chat.parent, rules));
  return { sessionKey: keyOf(rest), mainSessionKey, ...(parent === undefined ? {} : { parentSessionKey: parent }) };
}
