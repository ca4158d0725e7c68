/** Buttons and menus below a message. */
import { type Fields, fieldsOf, listOf, numberOf, textOf, unfit } from "openclaw/plugin-sdk/channel-kit";

export type Component = Readonly<Record<string, unknown>>;

const ROW = 1;
const BUTTON = 2;
const SELECT = 3;
const CONTAINER = 17;
const TEXT = 10;
const LINK = 5;
const MAX_ROWS = 5;
const MAX_IN_ROW = 5;
const MAX_LABEL = 80;
const MAX_ID = 100;
const MAX_OPTIONS = 25;
export const COMPONENTS_V2 = 1 << 15;

const STYLES: Readonly<Record<string, number>> = { primary: 1, secondary: 2, success: 3, danger: 4, link: LINK };

/** Approvals read better in colour. */
const styleFor = (value: string): number => (/ deny(?:#|$)/.test(value) ? 4 : / allow-once(?:#|$)/.test(value) ? 3 : 2);

function buttonOf(raw: unknown): Component[] {
  const fields = fieldsOf(raw);
  const label = (textOf(fields?.["text"]) ?? textOf(fields?.["label"]))?.trim().slice(0, MAX_LABEL);
  if (fields === undefined || !label) return [];
  const url = textOf(fields["url"]);
  if (url !== undefined) return /^https?:\/\//i.test(url) ? [{ type: BUTTON, style: LINK, label, url }] : [];
  const value = ["callback_data", "callbackData", "custom_id", "data", "value"].map((key) => textOf(fields[key])).find(Boolean) ?? label;
  if (value.length > MAX_ID) return [];
  const named = STYLES[textOf(fields["style"]) ?? ""] ?? numberOf(fields["style"]);
  return [{ type: BUTTON, style: named ?? styleFor(value), label, custom_id: value, ...(fields["disabled"] === true ? { disabled: true } : {}) }];
}

/** A row with `options` is a menu. */
function selectOf(fields: Fields, index: number): Component | undefined {
  const options = listOf(fields["options"]).flatMap((raw) => {
    const option = fieldsOf(raw);
    const label = textOf(raw) ?? textOf(option?.["label"]) ?? textOf(option?.["text"]);
    if (label === undefined) return [];
    const value = (textOf(option?.["value"]) ?? label).slice(0, MAX_ID);
    const description = textOf(option?.["description"])?.slice(0, 100);
    return [{ label: label.slice(0, MAX_LABEL), value, ...(description === undefined ? {} : { description }) }];
  });
  if (options.length === 0) return undefined;
  const placeholder = textOf(fields["placeholder"])?.slice(0, 150);
  const most = Math.min(numberOf(fields["maxValues"]) ?? 1, options.length);
  return {
    type: SELECT,
    custom_id: textOf(fields["custom_id"])?.slice(0, MAX_ID) ?? `select:${index}`,
    options: options.slice(0, MAX_OPTIONS),
    ...(placeholder === undefined ? {} : { placeholder }),
    ...(most > 1 ? { max_values: most } : {}),
  };
}

function rowsOf(buttons: unknown): Component[] {
  return listOf(buttons).flatMap((row, index) => {
    const menu = fieldsOf(row)?.["options"] === undefined ? undefined : selectOf(fieldsOf(row) ?? {}, index);
    if (menu) return [{ type: ROW, components: [menu] }];
    const entries = (Array.isArray(row) ? row : [row]).flatMap(buttonOf);
    const rows: Component[] = [];
    for (let from = 0; from < entries.length; from += MAX_IN_ROW) rows.push({ type: ROW, components: entries.slice(from, from + MAX_IN_ROW) });
    return rows;
  });
}

/** Each value once: Discord refuses a message with the same one twice. */
function unique(rows: readonly Component[]): Component[] {
  const seen = new Set<unknown>();
  return rows.flatMap((row) => {
    const components = listOf(row["components"]).filter((raw) => {
      const id = fieldsOf(raw)?.["custom_id"] ?? fieldsOf(raw)?.["url"];
      if (seen.has(id)) return false;
      seen.add(id);
      return true;
    });
    return components.length > 0 ? [{ ...row, components }] : [];
  });
}

/** `channelData.discord`: `buttons` as rows of `{ text, callback_data | url }`, menus as `{ options }`, or `components` as Discord has them. */
export function componentsOf(data: unknown): Component[] | undefined {
  const fields = fieldsOf(data);
  if (!fields) return undefined;
  const raw = fieldsOf(fields["components"]);
  const own = listOf(raw?.["rows"] ?? raw?.["components"] ?? fields["components"]).flatMap((row): Component[] => (fieldsOf(row) ? [fieldsOf(row)!] : []));
  if (own.some((row) => numberOf(row["type"]) === undefined)) throw unfit("send", "components must be Discord action rows: { type: 1, components: […] }");
  const rows = unique([...rowsOf(fields["buttons"]), ...own]).slice(0, MAX_ROWS);
  return rows.length > 0 ? rows : undefined;
}

/** The text and what is below it in a frame of this colour. Such messages have no other text. */
export function framed(text: string, rows: readonly Component[], color: number): Readonly<Record<string, unknown>> {
  const inside = [...(text === "" ? [] : [{ type: TEXT, content: text }]), ...rows];
  return { flags: COMPONENTS_V2, components: [{ type: CONTAINER, accent_color: color, components: inside }] };
}
