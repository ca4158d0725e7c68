import { dirname, isAbsolute, resolve } from "node:path";
import { isInside } from "../base/files.ts";
import { messageOf } from "../base/errors.ts";
import { parseDocument, type ConfigDocument, type PathSegment, type ValuePath } from "./document/document.ts";
import type { SyntaxNode } from "./document/syntax.ts";
import type { ConfigFiles } from "./source-files.ts";
import { isObject, UNSAFE_KEYS, type PlainObject } from "./value.ts";

export const INCLUDE_KEY = "$include";
const MAX_DEPTH = 10;
/** Includes in one configuration, counting repeats: two files that name each other's list many times must not multiply without end. */
const MAX_INCLUDES = 1000;

/** What is wrong with an include, where it stands: `path` is that of the object in `document` that has the `$include`. */
export interface IncludeIssue {
  readonly document: ConfigDocument;
  readonly path: ValuePath;
  /** The same object's path in the whole configuration. */
  readonly configPath: ValuePath;
  readonly message: string;
}

export interface Included {
  readonly value: unknown;
  /** Every document by its path, the main one first. */
  readonly documents: ReadonlyMap<string, ConfigDocument>;
  readonly issues: readonly IncludeIssue[];
  /** Every file that an include names, whether it exists or not. */
  readonly named: ReadonlySet<string>;
}

interface Place {
  readonly document: ConfigDocument;
  /** Files from the main one down to this. */
  readonly chain: readonly string[];
  readonly path: readonly PathSegment[];
  readonly configPath: readonly PathSegment[];
}

function within(place: Place, segment: PathSegment): Place {
  return { ...place, path: [...place.path, segment], configPath: [...place.configPath, segment] };
}

/** Puts in what `$include` names. Included files must lie in the main file's folder, by text and by their real path. */
export function resolveIncludes(main: ConfigDocument, files: ConfigFiles): Included {
  const documents = new Map([[main.file, main]]);
  if (!mayInclude(main.text) || !includes(main.root)) return { value: main.value, documents, issues: [], named: new Set() };
  const issues: IncludeIssue[] = [];
  const named = new Set<string>();
  const root = dirname(main.file);
  let budget = MAX_INCLUDES;

  function resolved(value: unknown, place: Place): unknown {
    if (Array.isArray(value)) return value.map((item, index) => resolved(item, within(place, index)));
    if (!isObject(value)) return value;
    const { [INCLUDE_KEY]: include, ...others } = value;
    const siblings: PlainObject = {};
    for (const [key, child] of Object.entries(others)) siblings[key] = resolved(child, within(place, key));
    return Object.hasOwn(value, INCLUDE_KEY) ? withIncluded(include, siblings, place) : siblings;
  }

  function withIncluded(include: unknown, siblings: PlainObject, place: Place): unknown {
    const fail = (message: string): PlainObject => {
      issues.push({ document: place.document, path: place.path, configPath: place.configPath, message });
      return siblings;
    };
    try {
      const content = contentOf(include, place);
      if (Object.keys(siblings).length === 0) return content;
      if (!isObject(content)) return fail("Sibling keys require included content to be an object");
      return mergeIncluded(content, siblings);
    } catch (error) {
      if (!(error instanceof IncludeProblem)) throw error;
      return fail(error.message);
    }
  }

  function contentOf(include: unknown, place: Place): unknown {
    if (typeof include === "string") return fileContent(include, place);
    if (!Array.isArray(include)) {
      throw new IncludeProblem(`Invalid $include value: expected string or array of strings, got ${include === null ? "null" : typeof include}`);
    }
    const stranger = include.find((item) => typeof item !== "string");
    if (stranger !== undefined) {
      throw new IncludeProblem(
        `Invalid $include value: expected string or array of strings, got an array with ${stranger === null ? "null" : typeof stranger}`,
      );
    }
    return include.reduce<unknown>((merged, item: string) => mergeIncluded(merged, fileContent(item, place)), {});
  }

  function fileContent(name: string, place: Place): unknown {
    const path = includePath(name, place.document, root);
    named.add(path);
    if (place.chain.includes(path)) throw new IncludeProblem(`Circular include detected: ${[...place.chain, path].join(" -> ")}`);
    if (place.chain.length > MAX_DEPTH) throw new IncludeProblem(`Maximum include depth (${MAX_DEPTH}) exceeded at: ${name}`);
    if ((budget -= 1) < 0) throw new IncludeProblem(`More than ${MAX_INCLUDES} includes; the last was: ${name}`);
    const document = documents.get(path) ?? readIncluded(name, path, root, files);
    documents.set(path, document);
    const problem = document.issues.find((issue) => issue.severity === "error");
    if (problem) throw new IncludeProblem(`Failed to parse include file: ${name} (resolved: ${path}): ${problem.message}`);
    return resolved(document.value, { document, chain: [...place.chain, path], path: [], configPath: place.configPath });
  }

  const value = resolved(main.value, { document: main, chain: [main.file], path: [], configPath: [] });
  return { value, documents, issues, named };
}

/** Whether the key can be in a text at all; a backslash may hide one of its letters. */
function mayInclude(text: string): boolean {
  return text.includes(INCLUDE_KEY) || text.includes("\\");
}

function includes(node: SyntaxNode | undefined): boolean {
  return node !== undefined && node.kind !== "scalar" && node.elements.some((element) => element.key === INCLUDE_KEY || includes(element.node));
}

/** Ends one include; becomes an issue where the `$include` stands. */
class IncludeProblem extends Error {}

/** The file that an include names, relative to the file that has it. */
export function includePath(name: string, from: ConfigDocument, root: string): string {
  if (name.trim() === "" || name.includes("\0")) throw new IncludeProblem(`Failed to read include file: ${JSON.stringify(name)} names no file`);
  const path = isAbsolute(name) ? resolve(name) : resolve(dirname(from.file), name);
  if (!isInside(root, path)) throw new IncludeProblem(`Include path escapes config directory: ${name}`);
  return path;
}

function readIncluded(name: string, path: string, root: string, files: ConfigFiles): ConfigDocument {
  let real: string;
  try {
    real = files.realPath(path);
  } catch (error) {
    throw new IncludeProblem(`Failed to read include file: ${name} (resolved: ${path}): ${messageOf(error)}`);
  }
  if (!isInside(files.exists(root) ? files.realPath(root) : root, real)) {
    throw new IncludeProblem(`Include path resolves outside config directory (symlink): ${name}`);
  }
  try {
    // What was checked is what is read: the real path, not the link.
    return parseDocument(files.read(real), path);
  } catch (error) {
    throw new IncludeProblem(`Failed to read include file: ${name} (resolved: ${path}): ${messageOf(error)}`);
  }
}

/** Objects recursively, arrays one behind the other, otherwise the later value. */
export function mergeIncluded(earlier: unknown, later: unknown): unknown {
  if (Array.isArray(earlier) && Array.isArray(later)) return [...earlier, ...later];
  if (!isObject(earlier) || !isObject(later)) return later;
  const merged: PlainObject = { ...earlier };
  for (const [key, value] of Object.entries(later)) {
    if (UNSAFE_KEYS.has(key)) continue;
    merged[key] = Object.hasOwn(merged, key) ? mergeIncluded(merged[key], value) : value;
  }
  return merged;
}
