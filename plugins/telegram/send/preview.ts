/** A message that shows an answer while it is written. Whatever goes wrong with it, the answer itself is not touched. */
import { asChannelError } from "openclaw/plugin-sdk/channel-kit";
import type { Preview } from "../types.ts";
import { messageId, type PostOptions, post, postFields, type Sender } from "./sender.ts";
import { removeQuietly } from "./text.ts";

export const PREVIEW = { intervalMs: 1000, minChars: 30, maxChars: 4096 } as const;

/** Refusals that say nothing about the next attempt. */
const SLOW_DOWN_MS = 5000;

export interface PreviewDeps {
  readonly sender: Sender;
  now(): number;
}

/** As much as fits, not cut inside of a character. */
function fitting(text: string): string {
  if (text.length <= PREVIEW.maxChars) return text;
  const cut = text.slice(0, PREVIEW.maxChars - 1);
  return `${/[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut}…`;
}

export interface PreviewOptions extends PostOptions {
  /** The message that shows it already. */
  readonly previewId?: string | undefined;
}

export function openPreview({ sender, now }: PreviewDeps, options: PreviewOptions, signal: AbortSignal): Preview {
  let id = messageId(options.previewId);
  let chatId: number | string | undefined = id === undefined ? undefined : postFields(sender, options).chat_id;
  let shown = "";
  let wanted = "";
  let isOver = false;
  let isLost = false;
  let quietUntil = 0;
  let working: Promise<void> | undefined;

  async function show(text: string): Promise<void> {
    if (id === undefined) {
      const fields = { ...postFields(sender, options), text, ...(sender.account.linkPreview ? {} : { link_preview_options: { is_disabled: true } }) };
      const posted = await post(sender, fields, (current) => sender.client.call("sendMessage", current, { signal }));
      id = posted.message_id;
      chatId = posted.chat?.id ?? fields.chat_id;
    } else {
      await sender.client.call("editMessageText", { chat_id: chatId!, message_id: id, text, link_preview_options: { is_disabled: true } }, { signal });
    }
  }

  /** Always the newest text; texts in between are left out. */
  async function work(): Promise<void> {
    while (!isOver && !signal.aborted && wanted !== shown && now() >= quietUntil) {
      const text = wanted;
      try {
        await show(text);
        shown = text;
        sender.preview.shown(chatId!, id!, text);
      } catch (error) {
        const failure = asChannelError(error);
        if (failure?.mentions("message is not modified")) shown = text;
        else if (failure?.status === 429) quietUntil = now() + Math.max(failure.delivery.retryAfterMs ?? 0, PREVIEW.intervalMs);
        else if (failure?.delivery.state === "retry") quietUntil = now() + SLOW_DOWN_MS;
        else {
          // It may have been posted; nobody will edit it.
          if (id === undefined && failure?.delivery.state !== "failed") isLost = true;
          isOver = true;
        }
      }
    }
  }

  return {
    async update(text) {
      if (isOver || (id === undefined && text.length < PREVIEW.minChars)) return;
      wanted = fitting(text);
      working ??= work().finally(() => (working = undefined));
      await working;
    },
    id: () => (id === undefined ? (isLost ? null : undefined) : String(id)),
    async seal() {
      isOver = true;
      await working;
      return id === undefined ? undefined : String(id);
    },
    async discard() {
      isOver = true;
      await working;
      if (id !== undefined) await removeQuietly(sender, chatId!, id);
      id = undefined;
    },
  };
}

export interface DraftChunk {
  readonly minChars: number;
  readonly maxChars: number;
  readonly breakPreference: "paragraph" | "newline" | "sentence";
}

const BREAKS: Readonly<Record<DraftChunk["breakPreference"], RegExp>> = {
  paragraph: /\n[ \t]*\n/g,
  newline: /\n/g,
  sentence: /[.!?…](?=\s)/g,
};
/** What is looked for where the text has no break of the preferred kind. */
const ORDER = ["paragraph", "newline", "sentence"] as const;

/** The end of the last break of a kind in `text` that is behind `minChars`. */
function lastBreak(text: string, kind: DraftChunk["breakPreference"], minChars: number): number | undefined {
  let found: number | undefined;
  for (const match of text.matchAll(BREAKS[kind])) {
    const end = match.index + (kind === "sentence" ? match[0].length : 0);
    if (end >= minChars) found = end;
  }
  return found;
}

/** How much of `pending` is a piece that can be shown: 0 while it is too short, or has no break yet and can still grow. */
export function pieceLength(pending: string, { minChars, maxChars, breakPreference }: DraftChunk): number {
  if (pending.length < minChars) return 0;
  const window = pending.slice(0, maxChars);
  const preferred = lastBreak(window, breakPreference, minChars);
  if (preferred !== undefined) return preferred;
  if (pending.length < maxChars) return 0;
  for (const kind of ORDER.slice(ORDER.indexOf(breakPreference) + 1)) {
    const other = lastBreak(window, kind, minChars);
    if (other !== undefined) return other;
  }
  const space = window.lastIndexOf(" ");
  if (space >= minChars) return space;
  return /[\uD800-\uDBFF]$/.test(window) ? window.length - 1 : window.length;
}

/** `streamMode: "block"`: passes on only texts that end with a piece. The end of the answer is not its business: the preview is sealed, and the whole answer replaces it. */
export function inBlocks(preview: Preview, chunk: DraftChunk): Preview {
  let shown = 0;
  let last = "";
  return {
    ...preview,
    async update(text) {
      const isVoid = !text.startsWith(last.slice(0, shown));
      if (isVoid) shown = 0;
      last = text;
      for (let length = pieceLength(text.slice(shown), chunk); length > 0; length = pieceLength(text.slice(shown), chunk)) shown += length;
      // Another text than the one that was growing: what is shown goes at once, whether or not there is a whole piece to take its place.
      if (isVoid && shown === 0) shown = text.length;
      if (shown > 0) await preview.update(text.slice(0, shown).trimEnd());
    },
  };
}
