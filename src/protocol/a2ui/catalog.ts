/**
 * Components of A2UI's basic catalog, by the names of version 0.9. What a property may hold is written down once; 0.8 is translated into it.
 */

/**
 * What a property holds. `text`, `number`, `flag` and `texts` may be bound to data; `id` names a component, `children` several, or one for each item of
 * a list.
 */
export type PropertyKind = "text" | "number" | "flag" | "texts" | "id" | "children" | "tabs" | "options" | "action" | readonly string[];

export type Properties = Readonly<Record<string, PropertyKind>>;

interface ComponentSpec {
  readonly properties: Properties;
  readonly required: readonly string[];
}

const spec = (required: string, properties: Properties): ComponentSpec => ({ properties, required: required === "" ? [] : required.split(" ") });

const ALIGN = ["start", "center", "end", "stretch"] as const;
const JUSTIFY = ["start", "center", "end", "spaceAround", "spaceBetween", "spaceEvenly", "stretch"] as const;
const HEADINGS = ["h1", "h2", "h3", "h4", "h5", "caption", "body"] as const;
const PICTURES = ["icon", "avatar", "smallFeature", "mediumFeature", "largeFeature", "header"] as const;
const FITS = ["contain", "cover", "fill", "none", "scaleDown", "scale-down"] as const;
const box = { children: "children", justify: JUSTIFY, align: ALIGN } as const;

export const CATALOG: Readonly<Record<string, ComponentSpec>> = {
  Text: spec("text", { text: "text", variant: HEADINGS }),
  Image: spec("url", { url: "text", fit: FITS, variant: PICTURES, description: "text" }),
  Icon: spec("name", { name: "text" }),
  Video: spec("url", { url: "text" }),
  AudioPlayer: spec("url", { url: "text", description: "text" }),
  Row: spec("children", box),
  Column: spec("children", box),
  List: spec("children", { children: "children", direction: ["vertical", "horizontal"], align: ALIGN }),
  Card: spec("child", { child: "id" }),
  Tabs: spec("tabs", { tabs: "tabs" }),
  Modal: spec("trigger content", { trigger: "id", content: "id" }),
  Divider: spec("", { axis: ["horizontal", "vertical"] }),
  Button: spec("child action", { child: "id", variant: ["default", "primary", "borderless"], action: "action" }),
  TextField: spec("label", {
    label: "text",
    value: "text",
    variant: ["shortText", "longText", "number", "obscured", "date"],
    validationRegexp: "text",
  }),
  CheckBox: spec("label value", { label: "text", value: "flag" }),
  ChoicePicker: spec("options value", {
    label: "text",
    value: "texts",
    options: "options",
    variant: ["multipleSelection", "mutuallyExclusive"],
    maxAllowedSelections: "number",
  }),
  Slider: spec("value", { label: "text", value: "number", min: "number", max: "number" }),
  DateTimeInput: spec("value", { label: "text", value: "text", enableDate: "flag", enableTime: "flag", min: "text", max: "text" }),
};

/** Names of 0.8 that 0.9 spells differently. */
export const OLD_TYPES: ReadonlyMap<string, string> = new Map([["MultipleChoice", "ChoicePicker"]]);

const OLD_EVERYWHERE: Readonly<Record<string, string>> = { usageHint: "variant", distribution: "justify", alignment: "align" };
const OLD_PROPERTIES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Tabs: { tabItems: "tabs" },
  Modal: { entryPointChild: "trigger", contentChild: "content" },
  TextField: { text: "value", textFieldType: "variant", type: "variant" },
  ChoicePicker: { selections: "value" },
  Slider: { minValue: "min", maxValue: "max" },
};

/** The name that 0.9 gives a property of 0.8. */
export function currentProperty(type: string, name: string): string {
  const own = Object.hasOwn(OLD_PROPERTIES, type) ? OLD_PROPERTIES[type] : undefined;
  if (own && Object.hasOwn(own, name)) return own[name] ?? name;
  return Object.hasOwn(OLD_EVERYWHERE, name) ? (OLD_EVERYWHERE[name] ?? name) : name;
}

/** Properties that are read and have no effect here: checks need functions, and styles belong to the page. */
export const IGNORED: ReadonlySet<string> = new Set(["checks", "accessibility", "outputFormat", "primary", "weight", "filterable", "displayStyle", "style"]);
