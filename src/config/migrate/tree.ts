import type { ValuePath } from "../document/document.ts";
import { formatPath } from "../path.ts";
import { hasPath, isObject, valueAt, type PlainObject } from "../value.ts";

/** One thing that a migration moved, with paths in the form `a.b[0].c`. */
export interface Migrated {
  readonly from: string;
  /** Where it is now; empty when it was dropped. */
  readonly to: string;
  /** What happened when it is more than a move; empty otherwise. */
  readonly note: string;
  /** The old path in segments, to find its line. */
  readonly fromPath: ValuePath;
  readonly toPath: ValuePath;
}

/** A configuration that migrations work on in place, and what they did to it. */
export interface MigrationTree {
  readonly config: PlainObject;
  readonly report: Migrated[];
}

export function has(tree: MigrationTree, path: ValuePath): boolean {
  return hasPath(tree.config, path);
}

export function read(tree: MigrationTree, path: ValuePath): unknown {
  return valueAt(tree.config, path);
}

/** Takes the value out, and every object above it that is empty then. */
export function take(tree: MigrationTree, path: ValuePath): unknown {
  const value = read(tree, path);
  for (let length = path.length; length > 0; length -= 1) {
    const parent = valueAt(tree.config, path.slice(0, length - 1));
    if (!isObject(parent)) break;
    delete parent[String(path[length - 1])];
    if (Object.keys(parent).length > 0) break;
  }
  return value;
}

/** Puts a value in where nothing stands; into an object, its missing fields. What is there wins. */
export function fill(tree: MigrationTree, path: ValuePath, value: unknown): void {
  let at: PlainObject = tree.config;
  for (const segment of path.slice(0, -1)) {
    const key = String(segment);
    // An item of a list is reached like a key of an object.
    if (!isObject(at[key]) && !Array.isArray(at[key])) at[key] = {};
    at = at[key] as PlainObject;
  }
  const key = String(path.at(-1));
  at[key] = Object.hasOwn(at, key) ? filled(at[key], value) : value;
}

function filled(existing: unknown, value: unknown): unknown {
  if (!isObject(existing) || !isObject(value)) return existing;
  const merged: PlainObject = { ...existing };
  for (const [key, child] of Object.entries(value)) merged[key] = Object.hasOwn(merged, key) ? filled(merged[key], child) : child;
  return merged;
}

export function note(tree: MigrationTree, from: ValuePath, to: ValuePath, text = ""): void {
  tree.report.push({ from: formatPath(from), to: formatPath(to), note: text, fromPath: from, toPath: to });
}

/** Moves a value if it is there. */
export function move(tree: MigrationTree, from: ValuePath, to: ValuePath): void {
  if (!has(tree, from)) return;
  const kept = has(tree, to) && !(isObject(read(tree, to)) && isObject(read(tree, from)));
  const value = take(tree, from);
  fill(tree, to, value);
  note(tree, from, to, kept ? `dropped: ${formatPath(to)} is set and takes precedence` : "");
}

/** Objects of a list, each with its index. */
export function objectsIn(value: unknown): [number, PlainObject][] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((item, index) => (isObject(item) ? ([[index, item]] satisfies [number, PlainObject][]) : []));
}
