/** Which part of a message is read as a command. */
import { normalizeMentionText, isStopMessage, readCommand } from "../../../channels/index.ts";
import type { MsgContext } from "../../../protocol/index.ts";

const CURRENT = "[Current message - respond to this]";
/** What comes before a command is looked at only so far. */
const MOST_BEFORE = 8192;
const BRACKETS = /\s*\[[^\]\n]{0,512}\][ \t]*/y;
const LABEL = /\s*[^\s:/[\]][^:\n/[\]]{0,63}:[ \t]+/y;

/** The text that commands are looked for in. */
export function sourceText(ctx: MsgContext): string {
  return ctx.BodyForCommands ?? ctx.CommandBody ?? ctx.RawBody ?? ctx.Body ?? "";
}

export interface Parts {
  /** History, envelope, label of the sender: never read, never changed. */
  readonly before: string;
  /** What the sender wrote. */
  readonly said: string;
}

/** Divides a message. Brackets inside of what the sender wrote are left alone. */
export function partsOf(text: string): Parts {
  const marker = text.lastIndexOf(CURRENT);
  let at = marker < 0 ? 0 : marker + CURRENT.length;
  const start = at;
  while (at - start < MOST_BEFORE) {
    BRACKETS.lastIndex = at;
    const found = BRACKETS.exec(text);
    if (!found) break;
    at += found[0].length;
  }
  LABEL.lastIndex = at;
  const label = LABEL.exec(text)?.[0].length ?? 0;
  // "Note: do this" is what the sender wrote; "Ann: /status" or a name behind an envelope is not.
  if (label > 0 && (at > 0 || text[at + label] === "/")) at += label;
  return { before: text.slice(0, at), said: text.slice(at) };
}

const NUMBERED = /@\d{5,20}(?!\d)/g;

/** The text without the mention of whom it was written to. Only the beginning is looked at. */
export function withoutMentions(said: string, mentions: readonly RegExp[], botUsername?: string): string {
  const name = botUsername?.trim().replace(/^@/, "");
  const head = said.slice(0, MOST_BEFORE);
  if (mentions.length === 0 && !head.includes("@")) return said;
  let left = head.replaceAll(NUMBERED, " ");
  if (name && /^\w+$/.test(name)) left = left.replaceAll(new RegExp(`(?<![\\w/])@${name}(?!\\w)`, "gi"), " ");
  for (const { source, flags } of mentions) left = left.replaceAll(new RegExp(source, flags.includes("g") ? flags : `${flags}g`), " ");
  return left === head ? said : left + said.slice(MOST_BEFORE);
}

/** Whether nothing visible is left. */
export function isEmptyText(text: string): boolean {
  return text.length < MOST_BEFORE && normalizeMentionText(text).trim() === "";
}

/** Whether a message waits for those before it: a stop never does, a quick command does not wait for one that takes long. */
export type Pace = "stop" | "quick" | "usual";

/** Longer messages are neither. */
const MOST_LENGTH = 300;

/** Only looks at the text. `mentions` is asked where the message may name us first. */
export function paceOf(text: string, mentions: () => readonly RegExp[] = () => [], botUsername?: string): Pace {
  if (text.length > MOST_LENGTH) return "usual";
  const said = withoutMentions(partsOf(text).said, mentions(), botUsername).trim();
  if (isStopMessage(said, { botUsername })) return "stop";
  return readCommand(said, { botUsername })?.facts.quick === true ? "quick" : "usual";
}
