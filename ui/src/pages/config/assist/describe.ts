import { describeKey, type Hints } from "../model/hints.ts";
import { formatPath, valueAt, type ValuePath } from "../model/path.ts";
import type { SchemaNode } from "../model/shape.ts";
import { t } from "../../../words/words.ts";
import { changeEffect, listedValues, nodesAt } from "./schema-path.ts";

/** What can be asked about the configuration that is edited. */
export interface AssistFacts {
  readonly schema: SchemaNode;
  readonly hints: Hints;
  /** As it is in use, defaults included, secrets hidden. */
  readonly used: unknown;
  /** The file that is in use: what it sets is no default. */
  readonly base: unknown;
}

/** What a key means, in words. */
export interface Description {
  readonly path: string;
  readonly label: string;
  readonly help: string | undefined;
  readonly type: string;
  /** Values that are listed one by one. */
  readonly values: readonly string[];
  readonly fallback: string | undefined;
  /** What happens when it changes. */
  readonly change: string | undefined;
  readonly secret: boolean;
  readonly advanced: boolean;
}

const MOST_VALUES = 40;
const MOST_CHARS = 60;

const TYPES: Readonly<Record<string, string>> = {
  string: t("text"),
  number: t("number"),
  integer: t("whole number"),
  boolean: t("true or false"),
  object: t("object"),
  array: t("list"),
  null: "null",
};

/** A value as it would be written, on one line. */
export function shortValue(value: unknown): string {
  const text = JSON.stringify(value) ?? "";
  return text.length > MOST_CHARS ? `${text.slice(0, MOST_CHARS)}…` : text;
}

function bounds(node: SchemaNode): string {
  const { minimum, maximum, exclusiveMinimum } = node;
  if (typeof minimum === "number" && typeof maximum === "number") return ` ${minimum}–${maximum}`;
  if (typeof minimum === "number") return ` ≥ ${minimum}`;
  if (typeof exclusiveMinimum === "number") return ` > ${exclusiveMinimum}`;
  return typeof maximum === "number" ? ` ≤ ${maximum}` : "";
}

function typesOf(node: SchemaNode): readonly string[] {
  if (listedValues(node).length > 0) return [];
  const given: readonly unknown[] = Array.isArray(node["type"]) ? node["type"] : [node["type"]];
  return given.flatMap((type) => (typeof type === "string" && TYPES[type] !== undefined ? [`${TYPES[type]}${bounds(node)}`] : []));
}

/** The kinds of values that may stand at a place: `text or object`. */
export function typeText(nodes: readonly SchemaNode[]): string {
  const values = [...new Set(nodes.flatMap(listedValues).map((value) => shortValue(value)))];
  const types = [...new Set(nodes.flatMap(typesOf))];
  const listed = values.length === 0 ? [] : [values.length > 3 ? t`one of ${values.length}` : values.join(" | ")];
  return [...listed, ...types].join(t(" or "));
}

/** What holds while a key is not set: as the schema says, or as it is in use now. */
export function defaultOf({ used, base, hints }: AssistFacts, path: ValuePath, nodes: readonly SchemaNode[], isSet: boolean): unknown {
  if (describeKey(hints, path, nodes[0] ?? {}).secret) return undefined;
  const written = nodes.find((node) => Object.hasOwn(node, "default"))?.["default"];
  if (written !== undefined) return written;
  const value = isSet || valueAt(base, path) !== undefined ? undefined : valueAt(used, path);
  return typeof value === "object" ? undefined : value;
}

function changeText({ hints }: AssistFacts, path: ValuePath): string | undefined {
  const change = changeEffect(hints, path);
  if (!change) return undefined;
  if (change.kind === "restart") return t("The gateway restarts.");
  return change.kind === "none" ? t("Takes effect on next use; nothing restarts.") : change.does;
}

/** Describes a key; undefined when the schema does not know it. */
export function describe(facts: AssistFacts, path: ValuePath, isSet: boolean): Description | undefined {
  const nodes = nodesAt(facts.schema, path);
  if (path.length === 0 || nodes.length === 0) return undefined;
  const key = describeKey(facts.hints, path, nodes[0]!);
  const fallback = defaultOf(facts, path, nodes, isSet);
  const values = [...new Set(nodes.flatMap(listedValues).map(shortValue))].slice(0, MOST_VALUES);
  return {
    path: formatPath(path),
    label: key.label,
    help: key.help,
    type: typeText(nodes),
    values: values.length > 3 ? values : [],
    fallback: fallback === undefined ? undefined : shortValue(fallback),
    change: changeText(facts, path),
    secret: key.secret,
    advanced: key.advanced,
  };
}
