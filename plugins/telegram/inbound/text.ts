/** What was written: links that are hidden behind words become Markdown, and mentions are found by the platform's own marks. */
import { fieldsOf, type Fields, listOf, textOf, wholeOf } from "../fields.ts";

/** Who we are there. */
export interface Self {
  readonly id: number;
  readonly username: string | undefined;
}

export interface Mentions {
  readonly mentioned: boolean;
  readonly others: boolean;
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

/** The text with `[words](address)` where words are a link. */
export function withLinks(text: string, rawEntities: unknown): string {
  const parts: string[] = [];
  let at = 0;
  for (const { type, start, end, fields } of entitiesOf(text, rawEntities)) {
    const url = type === "text_link" ? textOf(fields["url"]) : undefined;
    if (url === undefined || start < at) continue;
    const label = text.slice(start, end);
    parts.push(text.slice(at, start), label === url ? label : `[${escapedLabel(label)}](${escapedUrl(url)})`);
    at = end;
  }
  return parts.length === 0 ? text : parts.join("") + text.slice(at);
}

/** Whether we or others are named. `/command@name` names as well. */
export function mentionsIn(text: string, rawEntities: unknown, self: Self): Mentions {
  const name = self.username?.toLowerCase();
  let mentioned = false;
  let others = false;
  const isUs = (handle: string): boolean => name !== undefined && handle.toLowerCase() === name;
  for (const { type, start, end, fields } of entitiesOf(text, rawEntities)) {
    const words = text.slice(start, end);
    const at = words.indexOf("@");
    let us: boolean | undefined;
    if (type === "mention") us = isUs(words.slice(1));
    else if (type === "bot_command" && at > 0) us = isUs(words.slice(at + 1));
    else if (type === "text_mention") us = wholeOf(fieldsOf(fields["user"])?.["id"]) === self.id;
    if (us === true) mentioned = true;
    else if (us === false) others = true;
  }
  return { mentioned, others };
}

/** The command that a text begins with, if it is one for us: `/new`, `/new@our_name`. */
export function commandIn(text: string, rawEntities: unknown, self: Self): string | undefined {
  const first = entitiesOf(text, rawEntities).find(({ type, start }) => type === "bot_command" && start === 0);
  if (!first) return undefined;
  const [name = "", to] = text.slice(1, first.end).split("@", 2);
  return to === undefined || to.toLowerCase() === self.username?.toLowerCase() ? name.toLowerCase() : undefined;
}
