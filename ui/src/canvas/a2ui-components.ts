import { html, nothing, type TemplateResult } from "lit";
import { live } from "lit/directives/live.js";
import {
  absolutePath,
  MOST_DEPTH,
  MOST_DRAWN,
  readPath,
  type A2uiModel,
  type Action,
  type Children,
  type Component,
  type Dynamic,
  type Surface,
} from "../../../src/protocol/a2ui/index.ts";
import { iconFor } from "./a2ui-icons.ts";
import type { UserAction } from "./frame-messages.ts";
import { parseSimpleMarkdown, type Block, type Span } from "./simple-markdown.ts";

export type Drawn = TemplateResult | typeof nothing;

/** What surfaces are drawn with. */
export interface Drawing {
  readonly model: A2uiModel;
  readonly changed: () => void;
  readonly act: (action: UserAction) => void;
  /** Values of inputs that are bound to no data, and what is open. */
  readonly local: Map<string, unknown>;
}

/** Where a component stands: its surface, and the data that relative paths are meant from. */
interface Place {
  readonly drawing: Drawing;
  readonly surface: Surface;
  readonly scope: string;
  /** Components around it. */
  readonly above: readonly string[];
  /** How many components this drawing of the surface may still have: a list draws its component for every item. */
  readonly left: { count: number };
}

type Draw = (component: Component, place: Place) => Drawn;

const MOST_ITEMS = 1000;

const isBound = (value: unknown): value is { readonly path: string } => typeof value === "object" && value !== null && "path" in value;
const valueOf = (value: Dynamic, { surface, scope }: Place): unknown => (isBound(value) ? readPath(surface.data, absolutePath(value.path, scope)) : value);
const asText = (value: unknown): string => (value === undefined || value === null ? "" : typeof value === "string" ? value : JSON.stringify(value));
const keyOf = ({ id }: Component, { surface, scope }: Place): string => `${surface.id}\n${scope}\n${id}`;
const textOf = (component: Component, name: string, place: Place): string => asText(valueOf(component.properties[name], place));
const valueIn = (event: Event): string => (event.target as HTMLInputElement).value;

/** What an input holds now. */
function current(component: Component, place: Place): unknown {
  const { value } = component.properties;
  return isBound(value) ? valueOf(value, place) : (place.drawing.local.get(keyOf(component, place)) ?? value);
}

function write(component: Component, place: Place, next: unknown): void {
  const { value } = component.properties;
  const { drawing, surface, scope } = place;
  if (isBound(value)) drawing.model.write(surface.id, absolutePath(value.path, scope), next);
  else drawing.local.set(keyOf(component, place), next);
  drawing.changed();
}

function open(component: Component, place: Place, what: unknown): void {
  place.drawing.local.set(keyOf(component, place), what);
  place.drawing.changed();
}

function draw(id: unknown, place: Place): Drawn {
  const component = typeof id === "string" ? place.surface.components.get(id) : undefined;
  if (!component || place.above.includes(component.id) || place.above.length > MOST_DEPTH || place.left.count <= 0) return nothing;
  place.left.count -= 1;
  const drawn = COMPONENTS[component.type]?.(component, { ...place, above: [...place.above, component.id] }) ?? nothing;
  return component.weight === undefined || drawn === nothing ? drawn : html`<div class="grow">${drawn}</div>`;
}

function drawChildren(children: Children, place: Place): readonly Drawn[] {
  if (!("componentId" in children)) return children.map((id) => draw(id, place));
  const path = absolutePath(children.path, place.scope);
  const items = readPath(place.surface.data, path);
  const keys = typeof items === "object" && items !== null ? Object.keys(items).slice(0, MOST_ITEMS) : [];
  return keys.map((key) => draw(children.componentId, { ...place, scope: `${path}/${key}` }));
}

function press({ id, properties }: Component, place: Place): void {
  const { name, context } = properties["action"] as Action;
  const resolved = Object.entries(context).map(([key, value]) => [key, valueOf(value, place) ?? null] as const);
  place.drawing.act({ name, surfaceId: place.surface.id, sourceComponentId: id, context: Object.fromEntries(resolved) });
}

const box =
  (kind: string): Draw =>
  ({ properties }, place) => {
    const [justify, align, direction] = [properties["justify"] ?? "start", properties["align"] ?? "stretch", properties["direction"] ?? "vertical"].map(asText);
    return html`<div class="box ${kind} justify-${justify} align-${align} ${direction}">${drawChildren(properties["children"] as Children, place)}</div>`;
  };

const drawSpans = (spans: readonly Span[]): readonly unknown[] =>
  spans.map(({ kind, text: words }) => {
    if (kind === "strong") return html`<strong>${words}</strong>`;
    if (kind === "em") return html`<em>${words}</em>`;
    return kind === "code" ? html`<code>${words}</code>` : words;
  });

function drawBlock(block: Block): Drawn {
  if (block.kind === "code") return html`<pre>${block.text}</pre>`;
  if (block.kind === "heading") return html`<div class="text h${block.level}" role="heading" aria-level=${block.level}>${drawSpans(block.spans)}</div>`;
  if (block.kind === "paragraph") return html`<p>${drawSpans(block.spans)}</p>`;
  const items = block.items.map((item) => html`<li>${drawSpans(item)}</li>`);
  return block.isOrdered
    ? html`<ol>
        ${items}
      </ol>`
    : html`<ul>
        ${items}
      </ul>`;
}

const text: Draw = (component, place) => {
  const shown = textOf(component, "text", place);
  const variant = asText(component.properties["variant"]);
  if (/^h[1-5]$/.test(variant)) return html`<div class="text ${variant}" role="heading" aria-level=${variant.slice(1)}>${shown}</div>`;
  return html`<div class="text ${variant === "caption" ? "caption" : ""}">${parseSimpleMarkdown(shown).map(drawBlock)}</div>`;
};

const INPUT_TYPES: Readonly<Record<string, string>> = { number: "number", obscured: "password", date: "date" };

const textField: Draw = (component, place) => {
  const variant = asText(component.properties["variant"]);
  const value = live(asText(current(component, place)));
  const written = (event: Event): void => write(component, place, valueIn(event));
  const input =
    variant === "longText"
      ? html`<textarea rows="4" .value=${value} @input=${written}></textarea>`
      : html`<input type=${INPUT_TYPES[variant] ?? "text"} .value=${value} @input=${written} />`;
  return html`<label class="field"><span>${textOf(component, "label", place)}</span>${input}</label>`;
};

const checkBox: Draw = (component, place) => {
  const changed = (event: Event): void => write(component, place, (event.target as HTMLInputElement).checked);
  const label = textOf(component, "label", place);
  return html`<label class="check"><input type="checkbox" .checked=${live(current(component, place) === true)} @change=${changed} />${label}</label>`;
};

const choice: Draw = (component, place) => {
  const { options, variant, maxAllowedSelections } = component.properties;
  const single = variant === "mutuallyExclusive" || maxAllowedSelections === 1;
  const now = current(component, place);
  const chosen = (Array.isArray(now) ? now : [now]).map(asText);
  const toggle = (value: string): void => {
    const several = chosen.includes(value) ? chosen.filter((one) => one !== value) : [...chosen.filter(Boolean), value];
    write(component, place, single ? [value] : several);
  };
  const item = ({ label, value }: { readonly label: Dynamic; readonly value: string }): Drawn => {
    const input = html`<input
      type=${single ? "radio" : "checkbox"}
      name=${keyOf(component, place)}
      .checked=${live(chosen.includes(value))}
      @change=${() => toggle(value)}
    />`;
    return html`<label class="check">${input}${asText(valueOf(label, place))}</label>`;
  };
  return html`<fieldset class="field">
    <legend>${textOf(component, "label", place)}</legend>
    ${(options as readonly { readonly label: Dynamic; readonly value: string }[]).map(item)}
  </fieldset>`;
};

const dateTime: Draw = (component, place) => {
  const { enableDate = true, enableTime = false } = component.properties;
  const type = enableDate && enableTime ? "datetime-local" : enableTime ? "time" : "date";
  const written = (event: Event): void => write(component, place, valueIn(event));
  const input = html`<input type=${type} .value=${live(asText(current(component, place)))} @change=${written} />`;
  return html`<label class="field"><span>${textOf(component, "label", place)}</span>${input}</label>`;
};

const slider: Draw = (component, place) => {
  const { min = 0, max = 100 } = component.properties;
  const value = asText(current(component, place));
  const [least, most] = [min, max].map((bound) => asText(valueOf(bound, place)));
  const written = (event: Event): void => write(component, place, Number(valueIn(event)));
  return html`<label class="field">
    <span>${textOf(component, "label", place)} <output>${value}</output></span>
    <input type="range" min=${least} max=${most} step="any" .value=${live(value)} @change=${written} />
  </label>`;
};

const tabs: Draw = (component, place) => {
  const items = component.properties["tabs"] as readonly { readonly title: Dynamic; readonly child: string }[];
  const at = Number(place.drawing.local.get(keyOf(component, place)) ?? 0);
  const tab = ({ title }: { readonly title: Dynamic }, index: number): Drawn =>
    html`<button role="tab" aria-selected=${index === at} @click=${() => open(component, place, index)}>${asText(valueOf(title, place))}</button>`;
  return html`<div class="tabs" role="tablist">${items.map(tab)}</div>
    <div role="tabpanel">${draw(items[at]?.child, place)}</div>`;
};

const modal: Draw = (component, place) => {
  const { trigger, content } = component.properties;
  const isOpen = place.drawing.local.get(keyOf(component, place)) === true;
  const close = html`<button class="close" aria-label="Close" @click=${() => open(component, place, false)}>✕</button>`;
  const shown = html`<div class="veil"><div class="card" role="dialog" aria-modal="true">${close}${draw(content, place)}</div></div>`;
  return html`<div @click=${() => open(component, place, true)}>${draw(trigger, place)}</div>
    ${isOpen ? shown : nothing}`;
};

const image: Draw = (component, place) => {
  const variant = asText(component.properties["variant"]);
  return html`<img class="image ${variant}" src=${textOf(component, "url", place)} alt=${textOf(component, "description", place)} />`;
};

const button: Draw = (component, place) => {
  const { child, variant } = component.properties;
  return html`<button class="button ${asText(variant)}" @click=${() => press(component, place)}>${draw(child, place)}</button>`;
};

const icon: Draw = (component, place) => {
  const name = textOf(component, "name", place);
  return html`<span class="icon" role="img" aria-label=${name}>${iconFor(name)}</span>`;
};

const audio: Draw = (component, place) =>
  html`<figure>
    <figcaption>${textOf(component, "description", place)}</figcaption>
    <audio controls src=${textOf(component, "url", place)}></audio>
  </figure>`;

const COMPONENTS: Readonly<Record<string, Draw>> = {
  Text: text,
  Image: image,
  Icon: icon,
  Video: (component, place) => html`<video controls src=${textOf(component, "url", place)}></video>`,
  AudioPlayer: audio,
  Row: box("row"),
  Column: box("column"),
  List: box("list"),
  Card: ({ properties }, place) => html`<div class="card">${draw(properties["child"], place)}</div>`,
  Tabs: tabs,
  Modal: modal,
  Divider: ({ properties }) => html`<div class="divider ${properties["axis"] === "vertical" ? "upright" : ""}" role="separator"></div>`,
  Button: button,
  TextField: textField,
  CheckBox: checkBox,
  ChoicePicker: choice,
  Slider: slider,
  DateTimeInput: dateTime,
};

/** Draws a surface from its root. */
export function drawSurface(surface: Surface, drawing: Drawing): Drawn {
  const color = surface.color === undefined ? "" : `--primary: ${surface.color}`;
  const content = draw(surface.root, { drawing, surface, scope: "", above: [], left: { count: MOST_DRAWN } });
  return html`<section class="surface" data-surface=${surface.id} style=${color}>${content}</section>`;
}
