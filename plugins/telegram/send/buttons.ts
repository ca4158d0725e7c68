/** Buttons below a message. */
import type { TelegramAccount } from "../account.ts";
import { fieldsOf, listOf, textOf } from "openclaw/plugin-sdk/channel-kit";

export type InlineButton = { text: string; callback_data: string } | { text: string; url: string };

export interface Keyboard {
  inline_keyboard: InlineButton[][];
}

const MAX_DATA_BYTES = 64;
const MAX_ROWS = 50;
const MAX_IN_ROW = 8;

function buttonOf(raw: unknown): InlineButton[] {
  const fields = fieldsOf(raw);
  const text = textOf(fields?.["text"])?.trim();
  if (fields === undefined || !text) return [];
  const url = textOf(fields["url"]);
  if (url !== undefined) return /^(?:https?|tg):\/\//i.test(url) ? [{ text, url }] : [];
  const data = textOf(fields["callback_data"]) ?? textOf(fields["callbackData"]) ?? textOf(fields["data"]) ?? textOf(fields["value"]) ?? text;
  // Longer data is refused with the whole message.
  return Buffer.byteLength(data) <= MAX_DATA_BYTES ? [{ text, callback_data: data }] : [];
}

/** Rows of `{ text, callback_data | url }`, as `channelData.telegram.buttons` has them. Nothing where buttons are off in such chats. */
export function keyboardOf(raw: unknown, scope: TelegramAccount["buttons"], isDirect: boolean): Keyboard | undefined {
  if (scope === "off" || (scope === "dm" && !isDirect) || (scope === "group" && isDirect)) return undefined;
  const rows = listOf(raw)
    .slice(0, MAX_ROWS)
    .map((row) => (Array.isArray(row) ? row : [row]).slice(0, MAX_IN_ROW).flatMap(buttonOf))
    .filter((row) => row.length > 0);
  return rows.length > 0 ? { inline_keyboard: rows } : undefined;
}
