import { readFileSync, readdirSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { parseAst } from "rolldown/parseAst";

/** One file as the figures see it. Paths are relative to the project. */
export interface SourceFile {
  readonly path: string;
  readonly lines: number;
  /** Files of the project that it imports, types and dynamic imports included. */
  readonly imports: readonly string[];
  /** `as` (other than `as const`) and `!`. */
  readonly assertions: number;
  /** Names of variables of the file itself whose value changes. */
  readonly mutable: readonly string[];
}

interface Node {
  readonly type: string;
  readonly [key: string]: unknown;
}

const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null && typeof (value as { type?: unknown }).type === "string";

function* children(node: Node): Generator<Node> {
  for (const value of Object.values(node)) {
    if (Array.isArray(value)) yield* value.filter(isNode);
    else if (isNode(value)) yield value;
  }
}

function visit(node: Node, see: (node: Node) => void): void {
  see(node);
  for (const child of children(node)) visit(child, see);
}

/** The file that an import of this node names, as it is written. */
function importedBy(node: Node): string | undefined {
  const source = node["source"];
  const named = ["ImportDeclaration", "ExportNamedDeclaration", "ExportAllDeclaration", "ImportExpression", "TSImportType"].includes(node.type);
  if (!named || !isNode(source) || typeof source["value"] !== "string") return undefined;
  return source["value"].startsWith(".") ? source["value"] : undefined;
}

const isConst = (node: Node): boolean => {
  const type = node["typeAnnotation"];
  return isNode(type) && isNode(type["typeName"]) && type["typeName"]["name"] === "const";
};

const COLLECTIONS = new Set(["Map", "Set", "WeakMap", "WeakSet"]);

/** Whether a variable of the file holds a collection that starts empty: it is there to be filled. */
function startsEmpty(init: unknown): boolean {
  if (!isNode(init)) return false;
  if (init.type === "ArrayExpression") return (init["elements"] as unknown[]).length === 0;
  if (init.type !== "NewExpression" || !isNode(init["callee"])) return false;
  return COLLECTIONS.has(String(init["callee"]["name"])) && (init["arguments"] as unknown[]).length === 0;
}

/** Whether the declared type says that nobody changes it. */
function isReadonly(id: Node): boolean {
  let type = id["typeAnnotation"];
  if (isNode(type)) type = type["typeAnnotation"];
  if (!isNode(type)) return false;
  return (
    (type.type === "TSTypeOperator" && type["operator"] === "readonly") || (isNode(type["typeName"]) && String(type["typeName"]["name"]).startsWith("Readonly"))
  );
}

function mutableOf(program: Node): string[] {
  return (program["body"] as Node[]).flatMap((statement) => {
    const declaration = statement.type === "ExportNamedDeclaration" ? statement["declaration"] : statement;
    if (!isNode(declaration) || declaration.type !== "VariableDeclaration" || declaration["declare"] === true) return [];
    const isLet = declaration["kind"] !== "const";
    const variables = declaration["declarations"] as { readonly id: Node; readonly init: unknown }[];
    return variables
      .filter(({ id, init }) => isLet || (startsEmpty(init) && !isReadonly(id)))
      .map(({ id }) => (typeof id["name"] === "string" ? id["name"] : "…"));
  });
}

function read(root: string, path: string): SourceFile {
  const text = readFileSync(join(root, path), "utf8");
  const program = parseAst(text, { lang: "ts" }) as unknown as Node;
  const imports = new Set<string>();
  let assertions = 0;
  visit(program, (node) => {
    const imported = importedBy(node);
    if (imported !== undefined) imports.add(relative(root, resolve(root, dirname(path), imported)));
    if (node.type === "TSNonNullExpression" || (node.type === "TSAsExpression" && !isConst(node))) assertions += 1;
  });
  return { path, lines: text.split("\n").length - 1, imports: [...imports], assertions, mutable: mutableOf(program) };
}

const isProduct = (name: string): boolean => name.endsWith(".ts") && !/\.(?:test|fixture|d)\.ts$/.test(name);

/** The product's own TypeScript files below a folder, without tests. */
export function readSources(root: string, folder: string): readonly SourceFile[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && isProduct(entry.name) && !entry.parentPath.includes("node_modules"))
    .map((entry) => read(root, relative(root, join(entry.parentPath, entry.name))))
    .sort((a, b) => (a.path < b.path ? -1 : 1));
}
