import { sha256 } from "./sha256.ts";
import type { BROUGHT as BROUGHT_AREAS, UiHint } from "./form-schema.ts";
import { isSensitivePath, type ConfigSections, type JsonSchema } from "./validate/index.ts";
import { isObject } from "./value.ts";

/** What a plugin says about a section that it brings. */
export interface SectionText {
  /** Of whom: `channels.<id>`, or `plugins.entries.<id>`. */
  readonly kind: "channels" | "plugins";
  readonly id: string;
  readonly label?: string | undefined;
  readonly help?: string | undefined;
  /** As it was written, by path below `channels.<id>` or `plugins.entries.<id>.config`. */
  readonly hints?: Readonly<Record<string, unknown>> | undefined;
}

/** Schemas of what plugins bring, with what forms say about them. */
export interface DescribedSections extends ConfigSections {
  readonly texts?: readonly SectionText[];
}

export interface SchemaDescription {
  /** Draft-07, with what plugins bring put in its place. */
  readonly schema: JsonSchema;
  /** Label, help and marks of every key, for forms. */
  readonly hints: Readonly<Record<string, UiHint>>;
  /** Another one when anything in it is another. */
  readonly hash: string;
}

type Hints = Record<string, UiHint>;
type Words = { readonly BROUGHT: typeof BROUGHT_AREAS; readonly labelOf: (key: string) => string };

/** The whole schema with its texts. Loaded when asked for: validation needs none of them. */
export async function describeSchema(sections: DescribedSections = {}): Promise<SchemaDescription> {
  const { areaOf, BROUGHT, exportSchema, labelOf, uiHints } = await import("./form-schema.ts");
  const schema = exportSchema(withUnchecked(sections));
  const { channels = {}, plugins = {}, ...own } = schema.properties ?? {};
  // Ours come first, since plugins may have more than is described; and our own secrets are marked in the schema.
  const hints = uiHints(
    { ...schema, properties: { ...own, channels, plugins } },
    (path) => (path[0] === "channels" || path[0] === "plugins") && isSensitivePath(path, sections),
  );
  for (const key of Object.keys(schema.properties ?? {})) {
    if (hints[key] && key !== "$schema") hints[key] = { ...hints[key], ...areaOf(key) };
  }
  for (const text of sections.texts ?? []) describeSection(hints, text, { BROUGHT, labelOf });
  return { schema, hints, hash: sha256(JSON.stringify([schema, hints])) };
}

/** A channel that only its code describes is shown as its code says. */
function withUnchecked({ unchecked, texts = [], ...sections }: DescribedSections): ConfigSections {
  const described = texts.filter(({ kind }) => kind === "channels").map(({ id }) => id);
  const more = Object.entries(unchecked?.channels ?? {}).filter(([id]) => described.includes(id));
  return { ...sections, channels: { ...Object.fromEntries(more), ...sections.channels } };
}

/** `pins[].code` → `code`. */
const lastKey = (path: string): string => path.replaceAll("[]", "").split(".").at(-1) ?? "";

function describeSection(hints: Hints, { kind, id, label, help, hints: written = {} }: SectionText, { BROUGHT, labelOf }: Words): void {
  const top = kind === "channels" ? `channels.${id}` : `plugins.entries.${id}`;
  const known = hints[top];
  if (!known) return;
  const texts = { ...(label === undefined ? {} : { label }), ...(help === undefined ? {} : { help }) };
  hints[top] = { ...known, ...texts, ...BROUGHT[kind] };
  const base = kind === "channels" ? top : `${top}.config`;
  if (kind === "plugins" && hints[base]) hints[base] = { ...hints[base], label: "Settings", help: "Settings of the plugin itself." };
  for (const [path, hint] of Object.entries(written)) {
    const pattern = `${base}.${path.trim().replace(/^\./, "")}`;
    const own = hints[pattern];
    // A key that the schema does not list is not there for a form, unless the user wrote it: then it must not be shown.
    if (isObject(hint) && (own || hint["sensitive"] === true)) hints[pattern] = { label: own?.label ?? labelOf(lastKey(path)), ...own, ...usable(hint) };
  }
}

/** The parts of a plugin's hint that have the right form. What is a secret stays one whatever the hint says. */
function usable(hint: Readonly<Record<string, unknown>>): Partial<UiHint> {
  const { label, help, placeholder, advanced, sensitive, order, itemTemplate } = hint;
  return {
    ...(typeof label === "string" && label.trim() !== "" ? { label } : {}),
    ...(typeof help === "string" ? { help } : {}),
    ...(typeof placeholder === "string" ? { placeholder } : {}),
    ...(typeof advanced === "boolean" ? { advanced } : {}),
    ...(sensitive === true ? { sensitive } : {}),
    ...(typeof order === "number" && Number.isFinite(order) ? { order } : {}),
    ...(itemTemplate === undefined ? {} : { itemTemplate }),
  };
}
