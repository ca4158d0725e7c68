/** What was written: links that are hidden behind words become Markdown, mentions and commands are found by the platform's own marks, and long texts are joined. */
import { fieldsOf, type Fields, listOf, textOf, wholeOf } from "openclaw/plugin-sdk/channel-kit";
import type { ChannelInboundEvent } from "../types.ts";

/** Who we are there. */
export interface Self {
  readonly id: number;
  readonly username: string | undefined;
}

export interface WrittenText {
  /** The text with `[words](address)` where words are a link. */
  readonly text: string;
  /** We are named; `/command@name` names as well. */
  readonly mentioned: boolean;
  /** Others are named. */
  readonly others: boolean;
  /** The command that it begins with, if it is one for us: `/new`, `/new@our_name`. */
  readonly command: string | undefined;
}

interface Entity {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly fields: Fields;
}

/** More than Telegram ever sends with one message. */
const MAX_ENTITIES = 1000;

/** Marks that lie inside of the text, in their order. Offsets are UTF-16, as ours. */
function entitiesOf(text: string, raw: unknown): Entity[] {
  return listOf(raw)
    .slice(0, MAX_ENTITIES)
    .flatMap((entry) => {
      const fields = fieldsOf(entry) ?? {};
      const [type, start, length] = [textOf(fields["type"]), wholeOf(fields["offset"]), wholeOf(fields["length"])];
      if (type === undefined || start === undefined || length === undefined || start < 0 || length <= 0 || start + length > text.length) return [];
      return [{ type, start, end: start + length, fields }];
    })
    .sort((a, b) => a.start - b.start);
}

const escapedUrl = (url: string): string => url.replaceAll(/[()\s<>]/g, (sign) => `%${sign.charCodeAt(0).toString(16).padStart(2, "0")}`);
const escapedLabel = (label: string): string => label.replaceAll(/[[\]\\]/g, String.raw`\$&`);

/** Whether a mark names us; undefined where it names nobody. */
function namesUs({ type, fields }: Entity, words: string, self: Self): boolean | undefined {
  const name = self.username?.toLowerCase();
  const at = words.indexOf("@");
  if (type === "mention") return name !== undefined && words.slice(1).toLowerCase() === name;
  if (type === "bot_command" && at > 0) return name !== undefined && words.slice(at + 1).toLowerCase() === name;
  return type === "text_mention" ? wholeOf(fieldsOf(fields["user"])?.["id"]) === self.id : undefined;
}

export function readText(written: string, rawEntities: unknown, self: Self): WrittenText {
  const parts: string[] = [];
  let linkEnd = 0;
  let mentioned = false;
  let others = false;
  let command: string | undefined;
  for (const entity of entitiesOf(written, rawEntities)) {
    const { type, start, end, fields } = entity;
    const words = written.slice(start, end);
    const url = type === "text_link" ? textOf(fields["url"]) : undefined;
    if (url !== undefined && start >= linkEnd) {
      parts.push(written.slice(linkEnd, start), words === url ? words : `[${escapedLabel(words)}](${escapedUrl(url)})`);
      linkEnd = end;
    }
    const us = namesUs(entity, words, self);
    if (us === true) mentioned = true;
    else if (us === false) others = true;
    if (type === "bot_command" && start === 0 && us !== false) command ??= words.slice(1).split("@", 1)[0]!.toLowerCase();
  }
  return { text: parts.length === 0 ? written : parts.join("") + written.slice(linkEnd), mentioned, others, command };
}

/** Telegram's apps cut a text at 4096 characters. From this length on, more may follow. */
const LONG = 4000;
const WAIT_MS = 1500;
const LAST_WAIT_MS = 50;
const MAX_PARTS = 12;
const MAX_CHARS = 50_000;
/** Most texts that wait for their next part. */
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
  readonly source: string;
  readonly messageId: number;
  /** In seconds. */
  readonly date: number;
  readonly text: string;
  /** Files, replies and forwards start a new text. */
  readonly isPlain: boolean;
}

/** Parts of one text follow each other at once, with ids in a row. */
export interface LongTexts {
  /** What a part belongs to. Parts have to come in their order. */
  joins(part: TextPart): ChannelInboundEvent["joins"];
}

export function createLongTexts(): LongTexts {
  const open = new Map<string, Open>();
  return {
    joins({ source, messageId, date, text, isPlain }) {
      const before = open.get(source);
      open.delete(source);
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
        open.set(source, { key, messageId, date, parts: (follows ? before.parts : 0) + 1, chars: (follows ? before.chars : 0) + text.length });
        const [oldest] = open.keys();
        if (open.size > MAX_OPEN && oldest !== undefined) open.delete(oldest);
      }
      // A short part is the last one.
      return { key, waitMs: isLong ? WAIT_MS : LAST_WAIT_MS };
    },
  };
}
