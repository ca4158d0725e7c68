import { channelKey, type OpenClawConfig } from "../config/index.ts";
import type { Chat, ChatPeer } from "./chat.ts";

/**
 * Ids as parts of a session key. Ids come from strangers, so no two of them may become the same part, and none may become a reserved word of
 * keys. Ids that platforms use stay as they are; only ambiguous ones are escaped with a `%`:
 *
 * - `%<hex>;` is one character: invisible ones, letters whose lower case is another letter's, and a `%` that would look like one of these;
 * - `%!<word>` is the literal word, where it would be taken for a reserved one;
 * - `%~<sha256>` replaces the end of an overlong part.
 */

/** Longer parts are cut. With four of them a key stays below 1,024 characters. */
const MAX_PART = 200;
const HEAD_OF_LONG = 120;

/** Visible ASCII without `%`: needs no escaping. */
const PLAIN = /^[\x21-\x24\x26-\x7e]*$/;
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Z}]/u;
const LOOKS_WRITTEN = /[0-9a-f~!]/i;

const written = (char: string): string => `%${(char.codePointAt(0) ?? 0).toString(16)};`;

function foldCharacter(char: string, next: string | undefined, isEdge: boolean): string {
  if (char === "%") return next !== undefined && LOOKS_WRITTEN.test(next) ? written(char) : char;
  if (char === " " && !isEdge) return char;
  if (INVISIBLE.test(char)) return written(char);
  const lower = char.toLowerCase();
  // The Kelvin sign becomes a plain k: two ids, one key.
  return lower === char || lower.toUpperCase() === char ? lower : written(char);
}

function folded(text: string): string {
  if (PLAIN.test(text)) return text.toLowerCase();
  const characters = Array.from(text);
  const last = characters.length - 1;
  return characters.map((char, at) => foldCharacter(char, characters[at + 1], at === 0 || at === last)).join("");
}

function shortened(part: string): string {
  if (part.length <= MAX_PART) return part;
  const head = part.slice(0, HEAD_OF_LONG).replace(/[\uD800-\uDBFF]$/, "");
  return `${head}%~${process.getBuiltinModule("node:crypto").createHash("sha256").update(part).digest("hex")}`;
}

/** Marks a part as literal, where it would be taken for a reserved word. */
const itself = (part: string): string => `%!${part}`;

/** An id that may contain colons. Segments that are among `words` are escaped. */
function idPart(id: string, words: ReadonlySet<string>): string {
  const whole = folded(id);
  const segments = whole.split(":");
  return shortened(segments.some((segment) => words.has(segment)) ? segments.map((one) => (words.has(one) ? itself(one) : one)).join(":") : whole);
}

/** A name that is one segment of a key: without colons, and not among `words`. */
function namePart(name: string, words: ReadonlySet<string>): string {
  const whole = folded(name).replaceAll(":", "%3a;");
  return shortened(words.has(whole) ? itself(whole) : whole);
}

/** People with several accounts, from `session.identityLinks`. */
interface IdentityLinks {
  /** The linked person of a sender, as part of a key. */
  nameOf(channel: string, idInKey: string): string | undefined;
  /** Whether a linked person has this name. */
  isName(part: string): boolean;
}

interface Link {
  readonly name: string;
  readonly order: number;
}

/** The form of a channel id: an entry that starts with one and a colon is for that channel only. */
const CHANNEL = /^\s*([a-z0-9][a-z0-9_-]*):([^]+)$/i;

function ofChannel(byChannel: Map<string, Map<string, Link>>, channel: string): Map<string, Link> {
  const known = byChannel.get(channel) ?? new Map<string, Link>();
  byChannel.set(channel, known);
  return known;
}

/** `words` are escaped in ids and names, as everywhere in direct keys. */
function readLinks(links: Readonly<Record<string, readonly string[]>> | undefined, words: ReadonlySet<string>): IdentityLinks {
  const byChannel = new Map<string, Map<string, Link>>();
  const anywhere = new Map<string, Link>();
  const names = new Set<string>();
  let order = 0;
  for (const [written, entries] of Object.entries(links ?? {})) {
    if (written.trim() === "") continue;
    const name = idPart(written.trim(), words);
    names.add(name);
    for (const entry of entries) {
      const [, channel, id] = CHANNEL.exec(entry) ?? [];
      const known = channel === undefined ? anywhere : ofChannel(byChannel, channelKey(channel));
      const key = idPart((id ?? entry).trim(), words);
      if (key !== "" && !known.has(key)) known.set(key, { name, order: order++ });
    }
  }
  return {
    nameOf(channel, idInKey) {
      const own = byChannel.get(channel)?.get(idInKey);
      const general = anywhere.get(idInKey);
      return own && general ? (own.order < general.order ? own : general).name : (own ?? general)?.name;
    },
    isName: (part) => names.has(part),
  };
}

type DmScope = NonNullable<NonNullable<OpenClawConfig["session"]>["dmScope"]>;

/** How sessions are separated, from the configuration's `session`. */
export interface SessionRules {
  readonly scope: "per-sender" | "global";
  readonly dmScope: DmScope;
  readonly links: IdentityLinks;
}

/** The sessions of one agent for a message. */
export interface SessionKeys {
  /** The session of the message. */
  readonly sessionKey: string;
  /** The agent's main session. */
  readonly mainSessionKey: string;
  /** The session of the chat that a thread belongs to. */
  readonly parentSessionKey?: string;
}

const IN_GROUPS: ReadonlySet<string> = new Set(["thread", "topic"]);
/** Readers of keys look for `:group:` and `:channel:`, so neither may come from a sender's id. */
const IN_DIRECT: ReadonlySet<string> = new Set(["thread", "topic", "group", "channel", "direct", "dm"]);
/** First segments of sessions that are not chats on a channel. */
const CHANNELS: ReadonlySet<string> = new Set(
  "main direct dm group channel thread topic unknown global subagent cron hook acp openai openai-user openresponses-user".split(" "),
);
/** Reserved words in the position of an account. */
const ACCOUNTS: ReadonlySet<string> = new Set("direct dm group channel thread topic slash".split(" "));

/** Stands for a missing id; a literal `unknown` is escaped. */
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
  // A stranger with the name of a linked person is not that person.
  return present(rules.links.isName(part) ? itself(part) : part);
}

function groupPart({ id, around }: ChatPeer): string {
  return around ? `${present(idPart(around.id, IN_GROUPS))}:topic:${present(idPart(around.topic, IN_GROUPS))}` : present(idPart(id, IN_GROUPS));
}

/** The part after `agent:<id>:`. */
function restOf(chat: Chat, peer: ChatPeer | undefined, rules: SessionRules): string {
  if (!peer || (peer.kind === "direct" && rules.dmScope === "main")) return "main";
  const channel = chat.channel === "" ? UNKNOWN : namePart(chat.channel, CHANNELS);
  if (peer.kind !== "direct") return `${channel}:${peer.kind}:${groupPart(peer)}`;
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
