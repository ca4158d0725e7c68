/** Buttons below a message, and choices where they are many. */
import { type Fields, fieldsOf, listOf, textOf } from "openclaw/plugin-sdk/channel-kit";

interface Choice {
  readonly text: string;
  readonly value: string;
  readonly url?: string | undefined;
}

export const ACTION_PREFIX = "openclaw:";
const MAX_BUTTONS = 5;
const MAX_OPTIONS = 100;
const MAX_LABEL = 75;
const MAX_VALUE = 2000;
const MAX_OPTION_VALUE = 150;
const MAX_SECTION = 3000;
const MAX_BLOCKS = 50;

function choiceIn(raw: unknown): Choice[] {
  const fields = fieldsOf(raw);
  const text = textOf(fields?.["text"])?.trim();
  if (fields === undefined || !text) return [];
  const url = textOf(fields["url"]);
  const value = ["callback_data", "callbackData", "data", "value"].map((key) => textOf(fields[key])).find((found) => found !== undefined) ?? text;
  // Longer values are refused with the whole message.
  if (value.length > MAX_VALUE || (url !== undefined && !/^https?:\/\//i.test(url))) return [];
  return [{ text: text.slice(0, MAX_LABEL), value, url }];
}

const plain = (text: string): Fields => ({ type: "plain_text", text, emoji: true });

function actionsOf(choices: readonly Choice[]): Fields {
  const isMany = choices.length > MAX_BUTTONS && choices.every(({ url, value }) => url === undefined && value.length <= MAX_OPTION_VALUE);
  if (isMany) {
    const options = choices.slice(0, MAX_OPTIONS).map(({ text, value }) => ({ text: plain(text), value }));
    return { type: "actions", elements: [{ type: "static_select", action_id: `${ACTION_PREFIX}select`, placeholder: plain("Choose"), options }] };
  }
  const elements = choices.slice(0, 25).map(({ text, value, url }, index) => ({
    type: "button",
    action_id: `${ACTION_PREFIX}${index}`,
    text: plain(text),
    ...(url === undefined ? { value } : { url }),
  }));
  return { type: "actions", elements };
}

/** The text in sections that are short enough, cut between lines. */
function sectionsOf(mrkdwn: string): Fields[] {
  const sections: Fields[] = [];
  for (let left = mrkdwn.trim(); left !== "";) {
    const line = left.lastIndexOf("\n", MAX_SECTION);
    const end = left.length <= MAX_SECTION ? left.length : line > 0 ? line : MAX_SECTION;
    sections.push({ type: "section", text: { type: "mrkdwn", text: left.slice(0, end) } });
    left = left.slice(end).trimStart();
  }
  return sections;
}

/** Blocks of a message with buttons: rows of `{ text, callback_data | value | url }`. Undefined: there are no buttons. */
export function buttonBlocks(raw: unknown, mrkdwn: string): readonly Fields[] | undefined {
  const choices = listOf(raw).flatMap((row) => (Array.isArray(row) ? row : [row]).flatMap(choiceIn));
  return choices.length === 0 ? undefined : [...sectionsOf(mrkdwn).slice(0, MAX_BLOCKS - 1), actionsOf(choices)];
}

/** What a payload has for Slack: its own blocks, or buttons. */
export function blocksIn(channelData: unknown, mrkdwn: string): readonly unknown[] | undefined {
  const own = fieldsOf(fieldsOf(channelData)?.["slack"]);
  const blocks = listOf(own?.["blocks"]);
  return blocks.length > 0 ? blocks.slice(0, MAX_BLOCKS) : buttonBlocks(own?.["buttons"], mrkdwn);
}
