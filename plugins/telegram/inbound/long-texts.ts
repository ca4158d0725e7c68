/** Telegram's apps cut a text at 4096 characters. Its parts follow each other at once, with ids in a row. */
import type { ChannelInboundEvent } from "../types.ts";

/** From this length on, more may follow. */
const LONG = 4000;
const WAIT_MS = 1500;
const LAST_WAIT_MS = 50;
const MAX_PARTS = 12;
const MAX_CHARS = 50_000;
/** Chats that are remembered. */
const MAX_OPEN = 1000;
/** Dates come in whole seconds. */
const MAX_GAP_S = 2;

interface Open {
  readonly key: string;
  readonly messageId: number;
  readonly date: number;
  readonly parts: number;
  readonly chars: number;
}

export interface TextPart {
  /** Chat, topic and sender. */
  readonly place: string;
  readonly messageId: number;
  /** In seconds. */
  readonly date: number;
  readonly text: string;
  /** Files, replies and forwards start a new text. */
  readonly isPlain: boolean;
}

export interface LongTexts {
  /** What a part belongs to. Parts have to come in their order. */
  joins(part: TextPart): ChannelInboundEvent["joins"];
}

export function createLongTexts(): LongTexts {
  const open = new Map<string, Open>();
  return {
    joins({ place, messageId, date, text, isPlain }) {
      const before = open.get(place);
      open.delete(place);
      const isLong = text.length >= LONG;
      const follows =
        before !== undefined &&
        isPlain &&
        messageId === before.messageId + 1 &&
        date - before.date <= MAX_GAP_S &&
        before.parts < MAX_PARTS &&
        before.chars + text.length <= MAX_CHARS;
      if (!follows && !isLong) return undefined;
      const key = follows ? before.key : `text:${messageId}`;
      if (isLong) {
        open.set(place, { key, messageId, date, parts: (follows ? before.parts : 0) + 1, chars: (follows ? before.chars : 0) + text.length });
        if (open.size > MAX_OPEN) open.delete(open.keys().next().value!);
      }
      // A short part is the last one.
      return { key, waitMs: isLong ? WAIT_MS : LAST_WAIT_MS };
    },
  };
}
