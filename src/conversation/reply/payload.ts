/** Text of a model or a plugin → what goes out; texts that mean silence. */
import { isSilentReply } from "../../agent/index.ts";
import type { ReplyPayload } from "../../protocol/index.ts";
import { createDirectiveScanner, type Directives } from "./directives.ts";

const SILENCE = "NO_REPLY";
const ALIVE = "HEARTBEAT_OK";
/** Markup that may stand around the sign of life; longer runs of it are text. */
const BEFORE = /^(?:[\s*_~`"'#>]|<[^<>]{1,40}>|&nbsp;){0,80}$/;
const AFTER = /^(?:[\s*_~`"'.!]|<[^<>]{1,40}>|&nbsp;){0,80}$/;
const NEAR = 400;

/** Whether the text, of which this much is there, may turn out to mean silence: nothing of it is shown yet. */
export function mayBeSilent(text: string): boolean {
  const begun = text.slice(0, NEAR).trim();
  return [SILENCE, ALIVE].some((word) => word.startsWith(begun)) || isSilentReply(begun);
}

/** The text without a last word that may become the one for silence. */
export function withoutBegunSilence(text: string): string {
  const tail = text.slice(-SILENCE.length - 1);
  for (let length = Math.min(SILENCE.length, tail.length); length > 0; length -= 1) {
    const before = tail[tail.length - length - 1];
    if (tail.endsWith(SILENCE.slice(0, length)) && (before === undefined || /\W/.test(before))) return text.slice(0, text.length - length);
  }
  return text;
}

/** More of them than this at one edge are text. */
const MAX_ROUNDS = 8;

/** An answer without the sign of life at its edges, and the markup around it. In the middle it is a word like any other. */
export function stripAlive(text: string): { readonly text: string; readonly stripped: boolean } {
  let rest = text.trim();
  if (!rest.includes(ALIVE)) return { text: rest, stripped: false };
  let stripped = false;
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const shorter = withoutFirst(rest) ?? withoutLast(rest);
    if (shorter === undefined) break;
    rest = shorter.trim();
    stripped = true;
  }
  return { text: rest, stripped };
}

function withoutFirst(text: string): string | undefined {
  const first = text.slice(0, NEAR).indexOf(ALIVE);
  if (first < 0 || /[A-Za-z0-9]/.test(text[first + ALIVE.length] ?? "") || !BEFORE.test(text.slice(0, first))) return undefined;
  const rest = text.slice(first + ALIVE.length);
  // What closed the markup around it goes as well.
  return rest.replace(/^(?:[*_~`]{1,3}|<\/[^<>]{1,40}>)/, "").replace(/^[.!:,]{1,3}(?=\s|$)/, "");
}

function withoutLast(text: string): string | undefined {
  const near = text.slice(-NEAR);
  const last = near.lastIndexOf(ALIVE);
  if (last < 0 || /[A-Za-z0-9]/.test(near[last - 1] ?? "") || !AFTER.test(near.slice(last + ALIVE.length))) return undefined;
  const before = near.slice(0, last).trimEnd();
  return text.slice(0, text.length - near.length) + before.replace(/(?:(?<=\s|^)[*_~`]{1,3}|<[^<>/]{1,40}>)$/, "");
}

export interface ShapeFacts {
  /** Folders that files may be sent from; relative paths begin at the first. */
  readonly localRoots?: readonly string[] | undefined;
  /** The message that is answered. */
  readonly currentId?: string | undefined;
  /** In a heartbeat, what is left beside the sign of life is dropped up to this length. */
  readonly ackMaxChars?: number | undefined;
}

/** A text and what it says beside its words. */
interface ReadReply {
  readonly text: string;
  readonly directives: Directives;
}

/** Takes the directives out of a whole text. Linear. */
export function readReply(text: string, localRoots: readonly string[] = []): ReadReply {
  const scanner = createDirectiveScanner(localRoots);
  const words = scanner.push(text) + scanner.end();
  return { text: words.trimEnd(), directives: scanner.found() };
}

/** The words that are said: nothing where they mean silence, and no sign of life at the edges. */
export function wordsOf(text: string, ackMaxChars?: number): string {
  if (isSilentReply(text)) return "";
  const { text: rest, stripped } = stripAlive(text);
  if (stripped && ackMaxChars !== undefined && rest.length <= ackMaxChars) return "";
  return isSilentReply(rest) ? "" : rest;
}

/** A payload of words and directives; undefined when nothing is left to be sent. `media` are those that were not sent before. */
export function payloadOf(text: string, directives: Directives, facts: Pick<ShapeFacts, "currentId">, media = directives.media): ReplyPayload | undefined {
  const words = text.trim() === "" ? undefined : text;
  if (words === undefined && media.length === 0) return undefined;
  const { replyToId, replyToCurrent, audioAsVoice, spokenText } = directives;
  const quoted = replyToId ?? (replyToCurrent ? facts.currentId : undefined);
  return {
    ...(words === undefined ? {} : { text: words }),
    ...(media.length === 0 ? {} : { mediaUrl: media[0], mediaUrls: [...media] }),
    ...(replyToId === undefined && !replyToCurrent ? {} : { replyToTag: true }),
    ...(replyToId === undefined && replyToCurrent ? { replyToCurrent: true } : {}),
    ...(quoted === undefined ? {} : { replyToId: quoted }),
    ...(audioAsVoice ? { audioAsVoice: true } : {}),
    ...(spokenText === undefined ? {} : { spokenText }),
  };
}

/** A whole text → its payload. Silence with media sends the media. */
export function shapeText(text: string, facts: ShapeFacts = {}): ReplyPayload | undefined {
  const { text: words, directives } = readReply(text, facts.localRoots);
  return payloadOf(wordsOf(words, facts.ackMaxChars), directives, facts);
}

const keyOf = ({ text, mediaUrls, mediaUrl }: ReplyPayload): string => JSON.stringify([text?.trim() ?? "", mediaUrls ?? (mediaUrl ? [mediaUrl] : [])]);

/** Each payload once. */
export function withoutRepeats(payloads: readonly ReplyPayload[]): ReplyPayload[] {
  const seen = new Set<string>();
  return payloads.filter((payload) => {
    if (payload.channelData || payload.presentation || payload.interactive) return true;
    const key = keyOf(payload);
    return !seen.has(key) && seen.add(key);
  });
}

/** A payload that a plugin made: its text is read like a model's, its own fields stay. Undefined when nothing is left. */
export function shapePayload(payload: ReplyPayload, facts: ShapeFacts = {}): ReplyPayload | undefined {
  const shaped = payload.text === undefined ? undefined : shapeText(payload.text, facts);
  const { text: _text, ...own } = payload;
  const media = [...(own.mediaUrls ?? (own.mediaUrl ? [own.mediaUrl] : [])), ...(shaped?.mediaUrls ?? [])];
  const merged: ReplyPayload = { ...shaped, ...own, ...(media.length === 0 ? {} : { mediaUrl: media[0], mediaUrls: [...new Set(media)] }) };
  const filled = merged.text || media.length > 0 || own.channelData || own.presentation || own.interactive || own.attachments?.length || own.location;
  return filled ? merged : undefined;
}
