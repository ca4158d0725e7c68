/** Text of a model or a plugin → what goes out. */
import { isSilentReply } from "../../../agent/index.ts";
import type { ReplyPayload } from "../../../protocol/index.ts";
import { createDirectiveScanner, type Directives } from "./directives.ts";
import { stripAlive } from "./silence.ts";

export interface ShapeFacts {
  /** Folders that files may be sent from; relative paths begin at the first. */
  readonly localRoots?: readonly string[] | undefined;
  /** The message that is answered. */
  readonly currentId?: string | undefined;
  /** In a heartbeat, what is left beside the sign of life is dropped up to this length. */
  readonly ackMaxChars?: number | undefined;
}

/** A text and what it says beside its words. */
export interface ReadReply {
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

/** A payload that somebody else made: its text is read like a model's, its own fields stay. Undefined when nothing is left. */
export function shapePayload(payload: ReplyPayload, facts: ShapeFacts = {}): ReplyPayload | undefined {
  const shaped = payload.text === undefined ? undefined : shapeText(payload.text, facts);
  const { text: _text, ...own } = payload;
  const media = [...(own.mediaUrls ?? (own.mediaUrl ? [own.mediaUrl] : [])), ...(shaped?.mediaUrls ?? [])];
  const merged: ReplyPayload = { ...shaped, ...own, ...(media.length === 0 ? {} : { mediaUrl: media[0], mediaUrls: [...new Set(media)] }) };
  const filled = merged.text || media.length > 0 || own.channelData || own.presentation || own.interactive || own.attachments?.length || own.location;
  return filled ? merged : undefined;
}
