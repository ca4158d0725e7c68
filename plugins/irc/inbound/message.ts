/** A PRIVMSG as the host takes it. */
import { groupRules, type IrcAccount } from "../account.ts";
import type { IrcMessage } from "../connection/library.ts";
import type { ChannelInboundEvent } from "../types.ts";
import { withoutCodes } from "./codes.ts";
import type { MessageIds } from "./ids.ts";
import { isMentioned, readPatterns } from "./mention.ts";
import { senderOf } from "./sender.ts";

export interface MessageFacts {
  readonly account: IrcAccount;
  readonly nick: string;
  isUs(nick: string): boolean;
  readonly channelTypes: string;
  readonly statusMarks: string;
  readonly ids: MessageIds;
  now(): number;
}

/** What a bouncer plays again is answered when it is not older than this. */
const MAX_AGE_MS = 60 * 60_000;

/** Said between 0x01: a deed in words, or a question to our program. */
export interface Ctcp {
  readonly type: string;
  readonly text: string;
}

export function ctcpOf(text: string): Ctcp | undefined {
  if (!text.startsWith("\u0001")) return undefined;
  // Some leave the end out, and so does a server that cuts a line.
  const [type = "", ...words] = text
    .slice(1)
    .replace(/\p{Cc}$/u, "")
    .split(" ");
  return { type: type.toUpperCase(), text: words.join(" ") };
}

interface Target {
  readonly channel: string | undefined;
  /** Where an answer goes. */
  readonly to: string;
}

/** `@#channel` is for those with a voice there: so is the answer. */
function readTarget(target: string, nick: string, { channelTypes, statusMarks }: MessageFacts): Target {
  let marks = 0;
  while (marks < target.length && statusMarks.includes(target[marks]!)) marks += 1;
  const bare = channelTypes.includes(target[marks] ?? " ") ? target.slice(marks) : target;
  return channelTypes.includes(bare[0] ?? " ") ? { channel: bare, to: target } : { channel: undefined, to: nick };
}

function timeOf(tags: IrcMessage["tags"], now: number): { readonly at: number; readonly isExact: boolean } {
  const given = Date.parse(tags["time"] ?? "");
  return Number.isNaN(given) ? { at: now, isExact: false } : { at: given, isExact: true };
}

/** Undefined: nothing to answer. */
export function readMessage(message: IrcMessage, facts: MessageFacts): ChannelInboundEvent | undefined {
  const { params, nick, tags } = message;
  const [target = "", said = ""] = params;
  // Servers and services without a nick are nobody's conversation.
  if (message.command !== "PRIVMSG" || nick === "" || facts.isUs(nick)) return undefined;
  const ctcp = ctcpOf(said);
  if (ctcp && ctcp.type !== "ACTION") return undefined;
  const words = withoutCodes(ctcp ? ctcp.text : said);
  if (words === "") return undefined;
  const { channel, to } = readTarget(target, nick, facts);
  // For us or for a channel; servers also send to masks of everybody.
  if (channel === undefined && !facts.isUs(target)) return undefined;
  const { at, isExact } = timeOf(tags, facts.now());
  if (facts.now() - at > MAX_AGE_MS) return undefined;
  const text = ctcp ? `* ${nick} ${words}` : words;
  const event = { kind: "message" as const, id: facts.ids.idOf(message, at, isExact), sender: senderOf(message, facts.account.trustsNames), text, to, at };
  if (channel === undefined) return { ...event, chat: { type: "direct", id: nick.toLowerCase() } };
  const { systemPrompt, skills } = groupRules(facts.account.groups, channel);
  const nicks = [...new Set([facts.nick, facts.account.nick])];
  return {
    ...event,
    chat: { type: "group", id: channel.toLowerCase(), title: channel, channelName: channel },
    mention: { mentioned: isMentioned(words, nicks, readPatterns(facts.account.mentionPatterns)), botUsername: facts.nick },
    ...(systemPrompt === undefined ? {} : { groupSystemPrompt: systemPrompt }),
    ...(skills === undefined ? {} : { skillFilter: skills }),
  };
}
