import { describeKey, hintFor } from "../model/hints.ts";
import type { ValuePath } from "../model/path.ts";
import type { SchemaNode } from "../model/shape.ts";
import { t } from "../../../words/words.ts";
import { defaultOf, shortValue, typeText, type AssistFacts } from "./describe.ts";
import { idKindAt, idsInText, keyKindAt, type IdKind, type KnownIds } from "./known-ids.ts";
import type { CursorPlace } from "./position.ts";
import { fitting, keysOf, listedValues, nodesAt } from "./schema-path.ts";

/** One way to go on at the cursor. */
export interface Suggestion {
  /** The key, or the value as it would be written without a style. */
  readonly label: string;
  readonly kind: "key" | "value";
  /** Of a value: what is put in. */
  readonly value?: unknown;
  /** Its type, or a word about it. */
  readonly detail: string;
  /** In one line. */
  readonly help: string;
  readonly fallback: string | undefined;
  /** The path that it is about. */
  readonly path: ValuePath;
}

export interface SuggestInput extends AssistFacts {
  readonly ids: KnownIds;
  /** The last value that the text had: for ids that it defines itself. */
  readonly value: unknown;
}

/** More than anybody looks through; a word narrows them. */
export const MOST_SUGGESTIONS = 200;
const HELP_CHARS = 200;

const oneLine = (text = ""): string => text.replaceAll(/\s+/g, " ").slice(0, HELP_CHARS);

/** How well a name fits what is typed; undefined when it does not. */
export function fitOf(name: string, typed: string): number | undefined {
  if (typed === "") return 0;
  const [whole, word] = [name.toLowerCase(), typed.toLowerCase()];
  if (whole.startsWith(word)) return whole === word ? 0 : 1;
  const humps = name.split(/(?=[A-Z])|[-_./: ]+/).map((part) => part.toLowerCase());
  if (humps.some((part) => part.startsWith(word))) return 2;
  return whole.includes(word) ? 3 : undefined;
}

function narrowed(all: readonly Suggestion[], typed: string): readonly Suggestion[] {
  const name = ({ label, value }: Suggestion): string => (typeof value === "string" ? value : label);
  return all
    .flatMap((one, at) => {
      const fit = fitOf(name(one), typed);
      return fit === undefined ? [] : [{ one, fit, at }];
    })
    .toSorted((a, b) => a.fit - b.fit || a.at - b.at)
    .slice(0, MOST_SUGGESTIONS)
    .map(({ one }) => one);
}

/** Ids of a kind: those of the text first, then those that the gateway knows. */
function idsOf({ ids, value }: SuggestInput, kind: IdKind, path: ValuePath): readonly { readonly id: string; readonly about: string }[] {
  const known = kind === "account" ? [] : ids[kind];
  const abouts = new Map(known.map(({ id, about }) => [id, about]));
  const all = new Set([...idsInText(value, kind, path), ...abouts.keys()]);
  return [...all].map((id) => ({ id, about: abouts.get(id) ?? "" }));
}

function keySuggestion(input: SuggestInput, path: ValuePath, key: string, required: boolean): Suggestion & { readonly rank: number } {
  const own = [...path, key];
  const nodes = nodesAt(input.schema, own);
  const { help, advanced } = describeKey(input.hints, own, nodes[0] ?? {});
  const fallback = defaultOf(input, own, nodes, false);
  const type = typeText(nodes);
  return {
    kind: "key",
    label: key,
    path: own,
    detail: required ? t`${type}, required` : type,
    help: oneLine(help),
    fallback: fallback === undefined ? undefined : shortValue(fallback),
    rank: required ? 0 : advanced ? 2 : 1,
  };
}

/** Keys that may stand at the cursor; those that are there already are left out. */
function keys(input: SuggestInput, place: CursorPlace): readonly Suggestion[] {
  const { path, container, member } = place;
  const taken = new Set(container?.members.flatMap((one) => (one.key && one !== member ? [one.key.text] : [])));
  const nodes = fitting(nodesAt(input.schema, path), container, input.schema);
  const found = keysOf(nodes);
  const orderOf = (key: string): number => hintFor(input.hints, [...path, key])?.order ?? Number.MAX_SAFE_INTEGER;
  const named = found.keys
    .filter(({ key }) => !taken.has(key))
    .map(({ key, required }) => keySuggestion(input, path, key, required))
    .toSorted((a, b) => a.rank - b.rank || orderOf(a.label) - orderOf(b.label));
  const kind = found.open ? keyKindAt(path) : undefined;
  const ids = kind === undefined ? [] : idsOf(input, kind, path).filter(({ id }) => !taken.has(id));
  return [
    ...named,
    ...ids.map(({ id, about }) => ({ ...keySuggestion(input, path, id, false), detail: about || typeText(nodesAt(input.schema, [...path, id])) })),
  ];
}

const acceptsText = (node: SchemaNode): boolean => [node["type"]].flat().includes("string") && listedValues(node).length === 0;

/** Values that a type has without being listed: what is switched, and how an object or list begins. */
function plainValues(nodes: readonly SchemaNode[]): readonly unknown[] {
  const types = new Set(
    nodes.flatMap((node) => (listedValues(node).length > 0 ? [] : [node["type"] ?? (node["properties"] === undefined ? undefined : "object")].flat())),
  );
  return [
    ...(types.has("boolean") ? [true, false] : []),
    ...(types.has("null") ? [null] : []),
    ...(types.has("object") ? [{}] : []),
    ...(types.has("array") ? [[]] : []),
  ];
}

/** Values that may stand at the cursor. */
function values(input: SuggestInput, place: CursorPlace): readonly Suggestion[] {
  const { path, container } = place;
  const isItem = typeof path.at(-1) === "number";
  const nodes = nodesAt(input.schema, path);
  const help = oneLine(describeKey(input.hints, path, nodes[0] ?? {}).help);
  const fallback = isItem ? undefined : defaultOf(input, path, nodes, false);
  const about = (value: unknown, detail: string): Suggestion => ({ kind: "value", label: shortValue(value), value, detail, help, fallback: undefined, path });
  const kind = nodes.some(acceptsText) ? idKindAt(path) : undefined;
  const ids = kind === undefined ? [] : idsOf(input, kind, path);
  const all = new Map<string, Suggestion>();
  const add = (value: unknown, detail = ""): void => {
    const name = JSON.stringify(value);
    if (name !== undefined && !all.has(name)) all.set(name, about(value, same(value, fallback) ? t("default") : detail));
  };
  for (const value of nodes.flatMap(listedValues)) add(value);
  for (const { id, about: word } of ids) add(id, word);
  const isScalar = typeof fallback !== "object";
  if (fallback !== undefined && isScalar) add(fallback, t("default"));
  for (const value of plainValues(nodes)) add(value);
  // In a list of names each stands once.
  const taken = isItem
    ? new Set(container?.members.flatMap(({ value }, at) => (value?.kind === "scalar" && at !== path.at(-1) ? [value.text] : [])))
    : undefined;
  return [...all.values()].filter(({ value }) => typeof value !== "string" || !taken?.has(value));
}

const same = (a: unknown, b: unknown): boolean => a !== undefined && JSON.stringify(a) === JSON.stringify(b);

/** What may stand at the cursor, the best first. */
export function suggestionsAt(input: SuggestInput, place: CursorPlace): readonly Suggestion[] {
  const all = place.kind === "key" ? keys(input, place) : values(input, place);
  // Between quotes a text is meant.
  const fitted = place.kind === "value" && place.quote !== "" ? all.filter(({ value }) => typeof value === "string") : all;
  return narrowed(fitted.length > 0 ? fitted : all, place.prefix.trim());
}
