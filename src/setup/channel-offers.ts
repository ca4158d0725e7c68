/** Channels that could be set up, from what plugins declare: none of their code is loaded. */
import { isObject, validate, type JsonSchema, type OpenClawConfig } from "../config/index.ts";
import { AppError } from "../base/errors.ts";
import { nearest } from "../base/text.ts";
import { isWaiting, type Inventory } from "../plugins/index.ts";
import type { MethodResult } from "../protocol/index.ts";

type Offered = MethodResult<"setup.status">["channels"][number];
export type ChannelField = Offered["fields"][number];
export type ChannelStep = Offered["steps"][number];
type Picture = NonNullable<ChannelStep["picture"]>;
type When = NonNullable<ChannelField["when"]>;

export interface ChannelOffer {
  readonly id: string;
  readonly label: string;
  readonly help?: string;
  readonly pluginId: string;
  /** What to do at the platform first. */
  readonly steps: readonly ChannelStep[];
  readonly fields: readonly ChannelField[];
  readonly schema?: JsonSchema;
  /** Why it could not run although it were set up. */
  readonly off?: string;
}

type Fields = Readonly<Record<string, unknown>>;

const at = (value: unknown, key: string): Fields => {
  const found = isObject(value) ? value[key] : undefined;
  return isObject(found) ? found : {};
};
const textOf = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);

/** `botToken` → `Bot token`. */
function readable(path: string): string {
  const words = (path.split(".").at(-1) ?? path).replaceAll(/([a-z\d])([A-Z])/g, "$1 $2").toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** A first sentence is enough beside a field. */
const firstSentence = (text: string | undefined): string | undefined => text?.split(/(?<=[.!?])\s/)[0];

function whenOf(value: unknown): { readonly when?: When } {
  const [path, is] = isObject(value) ? [textOf(value["path"]), textOf(value["is"])] : [];
  return path === undefined || is === undefined ? {} : { when: { path, is } };
}

/** Choices of a setting that has few values, under the labels of its hint, in their order. */
function choicesOf(hint: Fields, property: Fields): Pick<ChannelField, "choices"> {
  const values = listOf(property["enum"]).map(String);
  const choices = Object.entries(at(hint, "choices")).flatMap(([value, label]) => (values.includes(value) ? { value, label: textOf(label) ?? value } : []));
  return choices.length === 0 ? {} : { choices };
}

/** What a form asks for: what the plugin gives hints about, what its schema requires, else its secrets. */
function fieldsOf(schema: Fields, hints: Fields): readonly ChannelField[] {
  const properties = at(schema, "properties");
  const required = new Set(Array.isArray(schema["required"]) ? schema["required"] : []);
  const hinted = Object.keys(hints).filter((path) => at(hints, path)["advanced"] !== true && properties[path] !== undefined);
  const secrets = Object.keys(properties).filter((path) => at(properties, path)["x-sensitive"] === true && at(properties, path)["x-advanced"] !== true);
  const paths = [...new Set([...(hinted.length > 0 ? hinted : secrets), ...[...required].map(String)])];
  return paths.map((path) => {
    const [hint, property] = [at(hints, path), at(properties, path)];
    const help = textOf(hint["help"]) ?? firstSentence(textOf(property["description"]));
    const placeholder = textOf(hint["placeholder"]);
    return {
      path,
      label: textOf(hint["label"]) ?? readable(path),
      secret: hint["sensitive"] === true || property["x-sensitive"] === true,
      required: hint["required"] === true || required.has(path),
      ...(help === undefined ? {} : { help }),
      ...(placeholder === undefined ? {} : { placeholder }),
      ...choicesOf(hint, property),
      ...whenOf(hint["when"]),
    };
  });
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? (value as unknown[]) : []);
const textsIn = (value: unknown): string[] => listOf(value).flatMap((entry) => textOf(entry) ?? []);

const DRAWN = ["text", "field", "value", "button", "switch", "command", "mine", "theirs", "code"] as const;

function pictureOf(value: unknown): Picture | undefined {
  const window = isObject(value) ? textOf(value["window"]) : undefined;
  if (!isObject(value) || window === undefined) return undefined;
  const [menu, click] = [textsIn(value["menu"]), textsIn(value["click"])];
  const shows = listOf(value["shows"])
    .filter(isObject)
    .map((drawn) => Object.fromEntries(DRAWN.flatMap((kind) => (textOf(drawn[kind]) === undefined ? [] : [[kind, textOf(drawn[kind])]]))));
  return { window, ...(menu.length > 0 ? { menu } : {}), ...(shows.length > 0 ? { shows } : {}), ...(click.length > 0 ? { click } : {}) };
}

function copyOf(value: unknown): Pick<ChannelStep, "copy"> {
  const copy = listOf(value)
    .filter(isObject)
    .flatMap((one) => (textOf(one["text"]) === undefined ? [] : { text: String(one["text"]), ...whenOf(one["when"]) }));
  return copy.length === 0 ? {} : { copy };
}

/** `setupSteps` of a channel: texts, or texts with a drawing of where to click and a text to paste there. */
function stepsOf(value: unknown): readonly ChannelStep[] {
  return listOf(value).flatMap((step): ChannelStep[] => {
    const fields: Fields = isObject(step) ? step : { text: step };
    const text = textOf(fields["text"]);
    const picture = pictureOf(fields["picture"]);
    return text === undefined ? [] : [{ text, ...whenOf(fields["when"]), ...copyOf(fields["copy"]), ...(picture ? { picture } : {}) }];
  });
}

/** The value of a field: as it is set, else its first choice. */
function settingOf({ fields }: Pick<ChannelOffer, "fields">, settings: Fields, path: string): string | undefined {
  const set = settings[path];
  return typeof set === "string" && set !== "" ? set : fields.find((field) => field.path === path)?.choices?.[0]?.value;
}

/** Whether a field, a step or a text is for these settings. */
export function isFor(offer: Pick<ChannelOffer, "fields">, settings: Fields, { when }: { readonly when?: When }): boolean {
  return when === undefined || settingOf(offer, settings, when.path) === when.is;
}

const ANY_GATEWAY = "https://gateway.example";

/** The steps for these settings, with the texts to paste filled in. `gateway`: its public https address. */
export function stepsFor(
  offer: Pick<ChannelOffer, "fields" | "steps">,
  settings: Fields,
  gateway: string = ANY_GATEWAY,
): readonly { readonly text: string; readonly copy?: string }[] {
  const valueOf = (path: string): string | undefined =>
    path === "gateway" ? gateway : (settingOf(offer, settings, path) ?? offer.fields.find((field) => field.path === path)?.placeholder);
  return offer.steps
    .filter((step) => isFor(offer, settings, step))
    .map(({ text, copy = [] }) => {
      const fitting = copy.find((one) => isFor(offer, settings, one));
      return { text, ...(fitting ? { copy: fitting.text.replaceAll(/\{([A-Za-z]+)\}/g, (whole, path: string) => valueOf(path) ?? whole) } : {}) };
    });
}

export function channelOffers({ entries }: Inventory): readonly ChannelOffer[] {
  return entries
    .filter(({ reason }) => reason?.startsWith("overridden by ") !== true)
    .flatMap((entry) =>
      (entry.manifest.channels ?? []).map((id): ChannelOffer => {
        const declared = at(at(entry.manifest.rest, "channelConfigs"), id);
        const schema = isObject(declared["schema"]) ? (declared["schema"] as JsonSchema) : undefined;
        const label = textOf(declared["label"]) ?? textOf(entry.channelCard?.["label"]) ?? entry.name;
        const usable = (entry.enabled && entry.error === undefined) || isWaiting(entry);
        return {
          id,
          label,
          pluginId: entry.id,
          steps: stepsOf(declared["setupSteps"]),
          fields: fieldsOf(schema ?? {}, at(declared, "uiHints")),
          ...(entry.description === undefined ? {} : { help: entry.description }),
          ...(schema ? { schema } : {}),
          ...(usable ? {} : { off: entry.error ?? entry.reason ?? "off" }),
        };
      }),
    );
}

export function findOffer(offers: readonly ChannelOffer[], channel: string): ChannelOffer {
  const found = offers.find(({ id }) => id === channel);
  if (found) return found;
  const known = offers.map(({ id }) => id);
  const close = nearest(channel, known);
  throw new AppError(
    "NOT_FOUND",
    `there is no channel ${JSON.stringify(channel)}; ${close === undefined ? `available: ${known.join(", ") || "none"}` : `did you mean ${close}?`}`,
  );
}

/** A text from a form as the schema wants it. */
function valueFor(schema: Fields, path: string, value: unknown): unknown {
  if (typeof value !== "string") return value;
  const property = at(at(schema, "properties"), path);
  const types = [property["type"]].flat();
  if (types.includes("array") && !types.includes("string")) return value.split(/[\s,;]+/).filter(Boolean);
  if ((types.includes("integer") || types.includes("number")) && /^-?\d+(?:\.\d+)?$/.test(value.trim())) return Number(value);
  if (types.includes("boolean") && /^(?:true|false)$/.test(value.trim())) return value.trim() === "true";
  return value.trim();
}

/** The channel's section with these fields in it, turned on and checked. Empty fields are left as they are. */
export function sectionWith(offer: ChannelOffer, config: OpenClawConfig, accountId: string, fields: Fields): Fields {
  const section = at(config.channels, offer.id);
  const accounts = at(section, "accounts");
  const filled = Object.entries(fields).filter(([, value]) => value !== undefined && value !== null && value !== "");
  const keys = Object.fromEntries(filled.map(([path, value]) => [path, valueFor(offer.schema ?? {}, path, value)]));
  const inSection = accountId === "default" && accounts["default"] === undefined;
  // Beside named accounts, what stands in the section is what they share: the account that it was gets a section of its own.
  const kept = accounts["default"] === undefined && offer.fields.some(({ path }) => section[path] !== undefined) ? { default: {} } : {};
  const next: Fields = inSection
    ? { ...section, ...keys, enabled: true }
    : { ...section, enabled: true, accounts: { ...kept, ...accounts, [accountId]: { ...at(accounts, accountId), ...keys, enabled: true } } };
  const holder = inSection ? next : at(at(next, "accounts"), accountId);
  const settings = { ...section, ...holder };
  const missing = offer.fields.filter((field) => field.required && isFor(offer, settings, field) && settings[field.path] === undefined);
  if (missing.length > 0) throw new AppError("INVALID_INPUT", `${offer.label} needs ${missing.map(({ label, path }) => `${label} (${path})`).join(", ")}`);
  if (offer.schema) {
    const issues = validate(offer.schema, next, { at: ["channels", offer.id] }).filter(({ severity }) => severity === "error");
    if (issues.length > 0) {
      const list = issues.map(({ path, message }) => ({ path: path.join("."), message }));
      throw new AppError("INVALID_INPUT", list.map(({ path, message }) => `${path}: ${message}`).join("; "), { details: { issues: list } });
    }
  }
  return next;
}
