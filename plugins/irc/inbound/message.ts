/** A PRIVMSG as the host takes it, and answers to questions that others ask our program. */
import { createHash } from "node:crypto";
import { type ChannelInboundEvent, escapeRegExp } from "openclaw/plugin-sdk";
import { groupLayers, rulesOf } from "openclaw/plugin-sdk/channel-kit";
import type { IrcAccount } from "../account.ts";
import type { IrcMessage } from "../connection/library.ts";
import { senderOf } from "./sender.ts";

/** Ids of messages: the server's where it sends some, else ours. */
export interface MessageIds {
  /** `at`: when it was written, in milliseconds; `isExact` where the server says so. */
  idOf(message: IrcMessage, at: number, isExact: boolean): string;
}

/** Messages that are counted. */
const MAX_COUNTED = 2000;

/**
 * Without ids of the server, time, sender and text make one: the same for a message that a bouncer plays again with its time, another for one that
 * is written again.
 */
export function createMessageIds(): MessageIds {
  const counts = new Map<string, number>();
  return {
    idOf(message, at, isExact) {
      const own = message.tags["msgid"] ?? message.tags["draft/msgid"];
      if (own) return own;
      const what = [at, message.prefix, ...message.params].join("\0");
      const hash = createHash("sha256").update(what).digest("hex").slice(0, 24);
      const count = (counts.get(hash) ?? 0) + 1;
      counts.set(hash, count);
      const [oldest] = counts.keys();
      if (counts.size > MAX_COUNTED && oldest !== undefined) counts.delete(oldest);
      return `${isExact ? "t" : "l"}-${at}-${hash}${count === 1 ? "" : `-${count}`}`;
    },
  };
}

/** A nick has letters, digits and these. */
const IN_NICK = "[\\w\\[\\]\\\\`^{|}-]";

/** The name as a word of its own, with `:` or `,` behind it at the beginning of a text. */
function nickPattern(nick: string): string {
  return `(?<!${IN_NICK})@?${escapeRegExp(nick)}(?!${IN_NICK})`;
}

/** For the beginning of a text: the name and what separates it from the rest. */
export const addressPattern = (nick: string): string => `^\\s*@?${escapeRegExp(nick)}(?!${IN_NICK})\\s*[:,]?\\s*`;

/** Expressions that are none are left out. */
function readPatterns(patterns: readonly string[]): RegExp[] {
  return patterns.flatMap((pattern) => {
    try {
      return new RegExp(pattern, "i");
    } catch {
      return [];
    }
  });
}

function isMentioned(text: string, nicks: readonly string[], patterns: readonly RegExp[]): boolean {
  return nicks.some((nick) => new RegExp(nickPattern(nick), "i").test(text)) || patterns.some((pattern) => pattern.test(text));
}

/** Bold, italic, underline, strike, monospace, reverse, reset; colours by number and by RGB. */
// oxlint-disable-next-line no-control-regex
const MARKS = /\x03(?:\d{1,2}(?:,\d{1,2})?)?|\x04(?:[0-9a-f]{6}(?:,[0-9a-f]{6})?)?|[\x02\x0f\x11\x16\x1d\x1e\x1f]/gi;
// oxlint-disable-next-line no-control-regex
const CONTROLS = /[\x00-\x08\x0a-\x1f\x7f]/g;

/** The text without colours and other marks. */
function withoutCodes(text: string): string {
  return text.replace(MARKS, "").replace(CONTROLS, "").trim();
}

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

/** Text between 0x01: an action in words, or a question to our program. */
interface Ctcp {
  readonly type: string;
  readonly text: string;
}

function ctcpOf(text: string): Ctcp | undefined {
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
  while (marks < target.length && statusMarks.includes(target.charAt(marks))) marks += 1;
  const bare = channelTypes.includes(target[marks] ?? " ") ? target.slice(marks) : target;
  return channelTypes.includes(bare[0] ?? " ") ? { channel: bare, to: target } : { channel: undefined, to: nick };
}

function timeOf(tags: IrcMessage["tags"], now: number): { readonly at: number; readonly isExact: boolean } {
  const at = Date.parse(tags["time"] ?? "");
  return Number.isNaN(at) ? { at: now, isExact: false } : { at, isExact: true };
}

/** Undefined: nothing to answer. */
export function readMessage(message: IrcMessage, facts: MessageFacts): ChannelInboundEvent | undefined {
  const { params, nick, tags } = message;
  const [target = "", written = ""] = params;
  // Servers and services without a nick are nobody's conversation.
  if (message.command !== "PRIVMSG" || nick === "" || facts.isUs(nick)) return undefined;
  const ctcp = ctcpOf(written);
  if (ctcp && ctcp.type !== "ACTION") return undefined;
  const words = withoutCodes(ctcp ? ctcp.text : written);
  if (words === "") return undefined;
  const { channel, to } = readTarget(target, nick, facts);
  // For us or for a channel; servers also send to masks of everybody.
  if (channel === undefined && !facts.isUs(target)) return undefined;
  const { at, isExact } = timeOf(tags, facts.now());
  if (facts.now() - at > MAX_AGE_MS) return undefined;
  const text = ctcp ? `* ${nick} ${words}` : words;
  const event = { kind: "message" as const, id: facts.ids.idOf(message, at, isExact), sender: senderOf(message, facts.account.trustsNames), text, to, at };
  if (channel === undefined) return { ...event, chat: { type: "direct", id: nick.toLowerCase() } };
  const { systemPrompt, skills } = rulesOf(groupLayers(facts.account.groups, channel));
  const nicks = [...new Set([facts.nick, facts.account.nick])];
  return {
    ...event,
    chat: { type: "group", id: channel.toLowerCase(), title: channel, channelName: channel },
    mention: { mentioned: isMentioned(words, nicks, readPatterns(facts.account.mentionPatterns)), botUsername: facts.nick },
    ...(systemPrompt === undefined ? {} : { groupSystemPrompt: systemPrompt }),
    ...(skills === undefined ? {} : { skillFilter: skills }),
  };
}

/** At most so many answers in this time, so that others cannot make us flood. */
const MOST = 3;
const WITHIN_MS = 30_000;
const MAX_ECHO = 60;
const KNOWN = ["ACTION", "CLIENTINFO", "PING", "TIME", "VERSION"];

/** Answers to questions to our program. They are notices, so that no two programs ever talk to each other. */
export interface CtcpAnswers {
  /** The line that answers, if one does. */
  answer(message: IrcMessage): string | undefined;
}

export function createCtcpAnswers(facts: { now(): number; isUs(nick: string): boolean }): CtcpAnswers {
  const times: number[] = [];
  function answerTo({ type, text }: Ctcp): string | undefined {
    if (type === "VERSION") return "OpenClaw";
    if (type === "CLIENTINFO") return KNOWN.join(" ");
    if (type === "TIME") return new Date(facts.now()).toUTCString();
    // oxlint-disable-next-line no-control-regex
    return type === "PING" ? text.replace(/[\x00-\x1f]/g, "").slice(0, MAX_ECHO) : undefined;
  }
  return {
    answer({ command, nick, params }) {
      const ctcp = command === "PRIVMSG" && nick !== "" && facts.isUs(params[0] ?? "") && !facts.isUs(nick) ? ctcpOf(params[1] ?? "") : undefined;
      const text = ctcp && answerTo(ctcp);
      if (!ctcp || text === undefined) return undefined;
      const now = facts.now();
      while (now - (times[0] ?? now) > WITHIN_MS) times.shift();
      if (times.length >= MOST) return undefined;
      times.push(now);
      return `NOTICE ${nick} :\u0001${`${ctcp.type} ${text}`.trimEnd()}\u0001`;
    },
  };
}
