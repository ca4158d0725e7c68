/** What the product's code reads, by file. Writing, declaring and mentioning a name is not reading it. */
import { readFileSync, readdirSync } from "node:fs";
import { join, relative } from "node:path";
import { parseAst } from "rolldown/parseAst";

interface Node {
  readonly type: string;
  readonly [key: string]: unknown;
}

export interface FileReads {
  readonly path: string;
  /** Names of properties that are accessed, taken apart, or looked up by a text. */
  readonly names: ReadonlySet<string>;
  /** `object.property` of accesses, with the last name of the object or, where a parameter is taken apart, of its type. */
  readonly pairs: ReadonlySet<string>;
  /** Every word of the code, comments left out: where a section is handled, its name stands. */
  readonly words: ReadonlySet<string>;
}

const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null && typeof (value as { type?: unknown }).type === "string";
const textOf = (node: unknown): string | undefined =>
  isNode(node) && node.type === "Literal" && typeof node["value"] === "string" ? node["value"] : undefined;
const nameOf = (key: unknown): string | undefined => (isNode(key) && key.type === "Identifier" ? String(key["name"]) : textOf(key));

/** The name that an expression ends with: `b` of `a.b`, `a?.b!` and `a["b"]`. */
function lastName(node: unknown): string | undefined {
  if (!isNode(node)) return undefined;
  if (node.type === "MemberExpression") return nameOf(node["property"]);
  return nameOf(node) ?? lastName(node["expression"]);
}

/** The name of a pattern's type; of `Pick<Type, …>` and the like that of the type inside. */
function typeName(pattern: Node): string | undefined {
  let type = isNode(pattern["typeAnnotation"]) ? pattern["typeAnnotation"]["typeAnnotation"] : undefined;
  while (isNode(type) && ["Pick", "Partial", "Readonly"].includes(nameOf(type["typeName"]) ?? "")) {
    const inner = type["typeArguments"];
    type = isNode(inner) ? (inner["params"] as readonly unknown[])[0] : undefined;
  }
  return isNode(type) ? nameOf(type["typeName"]) : undefined;
}

const isExpression = (node: Node): boolean =>
  !node.type.startsWith("TS") || ["TSAsExpression", "TSNonNullExpression", "TSSatisfiesExpression"].includes(node.type);

interface Found {
  readonly names: Set<string>;
  readonly pairs: Set<string>;
}

function take(node: Node, isTarget: boolean, parent: Node | undefined, { names, pairs }: Found): void {
  if (node.type === "MemberExpression" && !isTarget) {
    const name = node["computed"] === true ? textOf(node["property"]) : nameOf(node["property"]);
    if (name === undefined) return;
    names.add(name);
    pairs.add(`${lastName(node["object"]) ?? ""}.${name}`);
  } else if (node.type === "ObjectPattern") {
    const from = typeName(node) ?? (parent?.type === "VariableDeclarator" ? lastName(parent["init"]) : undefined) ?? "";
    for (const { key } of node["properties"] as readonly Node[]) {
      const name = nameOf(key);
      if (name === undefined) continue;
      names.add(name);
      pairs.add(`${from}.${name}`);
    }
  } else if (node.type === "Property" && ["key", "fileKey"].includes(nameOf(node["key"]) ?? "")) {
    // A credential that the channel kit reads.
    const name = textOf(node["value"]);
    if (name !== undefined) names.add(name);
  } else if (node.type === "CallExpression" || node.type === "ArrayExpression") {
    // A path, whole or in pieces, and tables of keys.
    const texts = ((node["arguments"] ?? node["elements"]) as readonly unknown[]).map(textOf);
    for (const text of texts) if (text !== undefined && /^[\w.]+$/.test(text)) for (const name of text.split(".")) names.add(name);
  }
}

function visit(node: Node, isTarget: boolean, parent: Node | undefined, found: Found): void {
  if (!isExpression(node)) return;
  take(node, isTarget, parent, found);
  for (const [key, value] of Object.entries(node)) {
    const target = node.type === "AssignmentExpression" && key === "left" && node["operator"] === "=";
    if (Array.isArray(value)) for (const child of value.filter(isNode)) visit(child, false, node, found);
    else if (isNode(value)) visit(value, target, node, found);
  }
}

function readsOf(root: string, path: string): FileReads {
  const code = readFileSync(join(root, path), "utf8");
  const found: Found = { names: new Set(), pairs: new Set() };
  visit(parseAst(code, { lang: "ts" }) as unknown as Node, false, undefined, found);
  const words = new Set(code.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "").match(/[A-Za-z_$][\w$]*/g));
  return { path, words, ...found };
}

const isProduct = (name: string): boolean => name.endsWith(".ts") && !/\.(?:test|fixture|d)\.ts$/.test(name);

/** Reads of the product's own files below some folders. */
export function readsIn(root: string, folders: readonly string[], isWanted: (path: string) => boolean): readonly FileReads[] {
  return folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && isProduct(entry.name) && !entry.parentPath.includes("node_modules"))
      .map((entry) => relative(root, join(entry.parentPath, entry.name)))
      .filter(isWanted)
      .map((path) => readsOf(root, path)),
  );
}
