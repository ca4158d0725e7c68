/** Cards: buttons below a message, and cards that an agent or plugin made. */
import type { ReplyPayload } from "openclaw/plugin-sdk";
import { buttonRows, type Fields, fieldsOf, listOf, type ReplyButton, textOf } from "openclaw/plugin-sdk/channel-kit";
import type { GoogleChatAccount } from "./account.ts";
import { BUTTON_VALUE } from "./inbound.ts";

const MAX_CARDS = 100;
const MAX_VALUE = 2000;

/** Apps that are add-ons have to name an address; others take any name. */
const functionOf = ({ webhookUrl, audienceType, audience }: GoogleChatAccount): string => webhookUrl ?? (audienceType === "app-url" ? audience : "openclaw");

function buttonOf({ text, value, url }: ReplyButton, account: GoogleChatAccount): Fields[] {
  if (url !== undefined) return /^https?:\/\//i.test(url) ? [{ text, onClick: { openLink: { url } } }] : [];
  if (value.length > MAX_VALUE) return [];
  return [{ text, onClick: { action: { function: functionOf(account), parameters: [{ key: BUTTON_VALUE, value }] } } }];
}

function cardWithId(card: unknown, index: number): Fields[] {
  const fields = fieldsOf(card);
  if (!fields) return [];
  const inner = fieldsOf(fields["card"]);
  return [inner ? { cardId: textOf(fields["cardId"]) ?? `card-${index + 1}`, card: inner } : { cardId: `card-${index + 1}`, card: fields }];
}

/** `channelData.googlechat`: `cardsV2`, a single `card`, and rows of `buttons`. Undefined: none of them. */
export function cardsOf(account: GoogleChatAccount, payload: ReplyPayload | undefined): readonly Fields[] | undefined {
  const own = fieldsOf(payload?.channelData?.["googlechat"]) ?? {};
  const given = [...listOf(own["cardsV2"]), ...(own["card"] === undefined ? [] : [own["card"]])];
  const rows = buttonRows(payload, "googlechat")
    .map((row) => row.flatMap((button) => buttonOf(button, account)))
    .filter((row) => row.length > 0);
  const buttons = { cardId: "openclaw-buttons", card: { sections: [{ widgets: rows.map((row) => ({ buttonList: { buttons: row } })) }] } };
  const cards = [...given.flatMap(cardWithId), ...(rows.length === 0 ? [] : [buttons])].slice(0, MAX_CARDS);
  return cards.length === 0 ? undefined : cards;
}
