import { hintFor, type Hints } from "../model/hints.ts";
import { isFields, type ValuePath } from "../model/path.ts";
import { resolved, type SchemaNode } from "../model/shape.ts";
import type { TreeContainer } from "./tree.ts";

/** Alternatives of one place; a schema that has more is cut. */
const MOST_NODES = 200;
const MOST_LEVELS = 12;

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** A schema and all of its alternatives, references followed. */
function alternatives(given: unknown, root: SchemaNode, found: SchemaNode[] = [], level = 0): SchemaNode[] {
  if (found.length >= MOST_NODES || level > MOST_LEVELS) return found;
  const node = resolved(given, root);
  found.push(node);
  for (const part of [...listOf(node["anyOf"]), ...listOf(node["oneOf"]), ...listOf(node["allOf"])]) alternatives(part, root, found, level + 1);
  return found;
}

const fieldsIn = (node: SchemaNode, key: string): Readonly<Record<string, unknown>> => (isFields(node[key]) ? node[key] : {});

/** What a schema says about one key of its objects. Patterns of a plugin's schema are not run: they could take as long as they like. */
function keySchema(node: SchemaNode, key: string): unknown {
  const own = fieldsIn(node, "properties");
  if (Object.hasOwn(own, key)) return own[key];
  const patterns = Object.values(fieldsIn(node, "patternProperties"));
  if (patterns.length > 0) return patterns[0];
  return isFields(node["additionalProperties"]) ? node["additionalProperties"] : undefined;
}

function itemSchema(node: SchemaNode, at: number): unknown {
  const { items, prefixItems } = node;
  const listed: unknown = listOf(prefixItems)[at] ?? (Array.isArray(items) ? (items as readonly unknown[])[at] : undefined);
  return listed ?? (isFields(items) ? items : undefined);
}

/** Everything that a schema says may stand at a path, each alternative by itself. */
export function nodesAt(root: SchemaNode, path: ValuePath): readonly SchemaNode[] {
  let nodes = alternatives(root, root);
  for (const part of path) {
    const next: SchemaNode[] = [];
    for (const node of nodes) {
      const inner = typeof part === "number" ? itemSchema(node, part) : keySchema(node, part);
      if (inner !== undefined) alternatives(inner, root, next);
    }
    nodes = next.slice(0, MOST_NODES);
  }
  return nodes;
}

/** The values that a schema lists one by one. */
export function listedValues(node: SchemaNode): readonly unknown[] {
  if (Object.hasOwn(node, "const")) return [node["const"]];
  return listOf(node["enum"]);
}

/** Alternatives that an object is not, by what is written in it: `source: "env"` leaves one of three. */
export function fitting(nodes: readonly SchemaNode[], object: TreeContainer | undefined, root: SchemaNode): readonly SchemaNode[] {
  const written = (object?.members ?? []).flatMap(({ key, value }) =>
    key && value?.kind === "scalar" && value.text !== "" ? [[key.text, value.text] as const] : [],
  );
  const fits = (node: SchemaNode): boolean =>
    written.every(([key, text]) => {
      const own = fieldsIn(node, "properties");
      const listed = Object.hasOwn(own, key) ? listedValues(resolved(own[key], root)) : [];
      return listed.length !== 1 || String(listed[0]) === text;
    });
  return nodes.filter(fits);
}

/** A key that may stand in an object. */
export interface KnownKey {
  readonly key: string;
  readonly required: boolean;
}

/** The keys that schemas name, in their order, and whether others may stand there as well. */
export function keysOf(nodes: readonly SchemaNode[]): { readonly keys: readonly KnownKey[]; readonly open: boolean } {
  const keys = new Map<string, KnownKey>();
  for (const node of nodes) {
    const required = new Set(listOf(node["required"]));
    for (const key of Object.keys(fieldsIn(node, "properties"))) {
      const before = keys.get(key);
      if (!before || (required.has(key) && !before.required)) keys.set(key, { key, required: required.has(key) });
    }
  }
  return { keys: [...keys.values()], open: nodes.some((node) => isFields(node["additionalProperties"])) };
}

/** What becomes of a change at a path: the nearest hint above it that says so. */
export function changeEffect(hints: Hints, path: ValuePath): NonNullable<Hints[string]["change"]> | undefined {
  for (let length = path.length; length > 0; length -= 1) {
    const change = hintFor(hints, path.slice(0, length))?.change;
    if (change) return change;
  }
  return undefined;
}
