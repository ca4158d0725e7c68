import { isFields } from "./path.ts";
import { t } from "../../../words/words.ts";

/** A part of a JSON Schema (draft-07). */
export type SchemaNode = Readonly<Record<string, unknown>>;

/** What may stand in a field, as far as a form needs to know. */
export type Shape =
  | { readonly kind: "text"; readonly minLength?: number; readonly maxLength?: number; readonly pattern?: string }
  | {
      readonly kind: "number";
      readonly whole: boolean;
      readonly min?: number;
      readonly max?: number;
      /** The least itself is not allowed. */ readonly above?: number;
    }
  | { readonly kind: "switch" }
  | { readonly kind: "choice"; readonly values: readonly Scalar[] }
  | { readonly kind: "list"; readonly item: SchemaNode }
  | { readonly kind: "object"; readonly members: readonly Member[]; /** What keys that are not listed hold. */ readonly others?: SchemaNode }
  | { readonly kind: "union"; readonly branches: readonly Branch[] }
  | { readonly kind: "any" };

export type Scalar = string | number | boolean | null;

/** A key that an object has a place for. */
export interface Member {
  readonly key: string;
  readonly schema: SchemaNode;
  readonly required: boolean;
}

/** One of several kinds that a value may be of. */
export interface Branch {
  readonly label: string;
  readonly schema: SchemaNode;
}

const MOST_REFS = 20;

/** Follows references within the whole schema. */
export function resolved(node: unknown, root: SchemaNode): SchemaNode {
  let at: unknown = node;
  for (let hops = 0; isFields(at) && typeof at["$ref"] === "string" && hops < MOST_REFS; hops += 1) {
    const parts = at["$ref"].replace(/^#\/?/, "").split("/").filter(Boolean);
    let target: unknown = root;
    for (const part of parts) target = isFields(target) ? target[decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~")] : undefined;
    at = target;
  }
  return isFields(at) ? at : {};
}

const isScalar = (value: unknown): value is Scalar => value === null || ["string", "number", "boolean"].includes(typeof value);
const nodes = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const numberIn = (node: SchemaNode, key: string): number | undefined => (typeof node[key] === "number" ? node[key] : undefined);

/** The values that a schema lists one by one; undefined when it does not. */
function listed(node: SchemaNode): readonly Scalar[] | undefined {
  if (Object.hasOwn(node, "const")) return isScalar(node["const"]) ? [node["const"]] : undefined;
  return Array.isArray(node["enum"]) && node["enum"].every(isScalar) ? node["enum"] : undefined;
}

function bounded<Key extends string>(name: Key, value: number | undefined): { readonly [K in Key]?: number } {
  return (value === undefined ? {} : { [name]: value }) as { readonly [K in Key]?: number };
}

function numberShape(node: SchemaNode, whole: boolean): Shape {
  const above = numberIn(node, "exclusiveMinimum");
  const min = numberIn(node, "minimum") ?? (whole && above !== undefined ? above + 1 : undefined);
  return { kind: "number", whole, ...bounded("min", min), ...bounded("max", numberIn(node, "maximum")), ...(min === undefined ? bounded("above", above) : {}) };
}

function objectShape(node: SchemaNode, root: SchemaNode): Shape {
  const required = new Set(nodes(node["required"]));
  const parts = [node, ...nodes(node["allOf"]).map((part) => resolved(part, root))];
  const members = parts.flatMap((part) => (isFields(part["properties"]) ? Object.entries(part["properties"]) : []));
  const others = node["additionalProperties"];
  return {
    kind: "object",
    members: members.map(([key, schema]) => ({ key, schema: resolved(schema, root), required: required.has(key) })),
    ...(isFields(others) || (others === true && members.length === 0) ? { others: resolved(others, root) } : {}),
  };
}

const TYPE_WORDS: Readonly<Record<string, string>> = {
  string: t("Text"),
  number: t("Number"),
  integer: t("Number"),
  boolean: t("On or off"),
  array: t("List"),
  object: t("Details"),
  null: t("None"),
};

/** A word for a kind of value: its title, what tells it apart from the others, or its type. */
function branchLabel(node: SchemaNode, root: SchemaNode): string {
  if (typeof node["title"] === "string") return node["title"];
  const values = listed(node);
  if (values) return values.length === 1 ? String(values[0]) : t("Choice");
  const marks = isFields(node["properties"]) ? Object.values(node["properties"]).map((part) => listed(resolved(part, root))) : [];
  const mark = marks.find((one) => one?.length === 1)?.[0];
  if (mark !== undefined) return `${TYPE_WORDS["object"]}: ${String(mark)}`;
  return TYPE_WORDS[String(node["type"])] ?? t("Any value");
}

function unionShape(branches: readonly SchemaNode[], root: SchemaNode): Shape {
  const plain = branches.map(listed);
  if (plain.every((values) => values !== undefined)) return { kind: "choice", values: plain.flat() };
  if (branches.length === 1) return shapeOf(branches[0], root);
  const labels = branches.map((branch) => branchLabel(branch, root));
  const numbered = labels.map((label, at) => (labels.indexOf(label) === at && labels.lastIndexOf(label) === at ? label : `${label} (${at + 1})`));
  return { kind: "union", branches: branches.map((schema, at) => ({ label: numbered[at]!, schema })) };
}

/** What a field of this schema looks like in a form. */
export function shapeOf(given: unknown, root: SchemaNode): Shape {
  const node = resolved(given, root);
  const values = listed(node);
  if (values) return { kind: "choice", values };
  const branches = [...nodes(node["anyOf"]), ...nodes(node["oneOf"])].map((branch) => resolved(branch, root));
  if (branches.length > 0) return unionShape(branches, root);
  const { type } = node;
  if (Array.isArray(type))
    return unionShape(
      type.map((one: unknown) => ({ ...node, type: one })),
      root,
    );
  if (type === "string") {
    const pattern = typeof node["pattern"] === "string" ? { pattern: node["pattern"] } : {};
    return { kind: "text", ...bounded("minLength", numberIn(node, "minLength")), ...bounded("maxLength", numberIn(node, "maxLength")), ...pattern };
  }
  if (type === "number" || type === "integer") return numberShape(node, type === "integer");
  if (type === "boolean") return { kind: "switch" };
  if (type === "array") return { kind: "list", item: resolved(node["items"], root) };
  if (type === "object" || isFields(node["properties"])) return objectShape(node, root);
  return { kind: "any" };
}

/** Whether a value can be shown by a field of this shape; one that cannot is shown as JSON. */
export function fits(value: unknown, shape: Shape, root: SchemaNode): boolean {
  switch (shape.kind) {
    case "text":
      return typeof value === "string";
    case "number":
      return typeof value === "number";
    case "switch":
      return typeof value === "boolean";
    case "choice":
      return shape.values.includes(value as Scalar);
    case "list":
      return Array.isArray(value);
    case "object":
      return isFields(value) && shape.members.every(({ key, schema, required }) => fixed(value[key], required, schema, root));
    case "union":
      return shape.branches.some(({ schema }) => fits(value, shapeOf(schema, root), root));
    default:
      return true;
  }
}

/** A key that must hold one certain value tells kinds of objects apart. */
function fixed(value: unknown, required: boolean, schema: SchemaNode, root: SchemaNode): boolean {
  const values = listed(resolved(schema, root));
  return values?.length !== 1 || (value === undefined ? !required : values.includes(value as Scalar));
}

/** What a new value of this shape begins with. */
export function emptyOf(shape: Shape, root: SchemaNode): unknown {
  switch (shape.kind) {
    case "text":
      return "";
    case "number":
      return shape.min ?? 0;
    case "switch":
      return false;
    case "choice":
      return shape.values[0];
    case "list":
      return [];
    case "object":
      return Object.fromEntries(shape.members.filter(({ required }) => required).map(({ key, schema }) => [key, emptyOf(shapeOf(schema, root), root)]));
    case "union":
      return emptyOf(shapeOf(shape.branches[0]?.schema, root), root);
    default:
      return null;
  }
}
