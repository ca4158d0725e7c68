import { isRecord as isObject } from "../base/records.ts";
import type { PathSegment, ValuePath } from "./document/document.ts";

export { isObject };

export type PlainObject = Record<string, unknown>;

/** Keys that a path, a patch or an included file may not bring into an object. */
export const UNSAFE_KEYS: ReadonlySet<string> = new Set(["__proto__", "prototype", "constructor"]);

/** A container with each value replaced by what `map` gives for it; the same container when nothing changed. Anything else as it is. */
export function mapValues(value: unknown, map: (child: unknown, key: PathSegment) => unknown): unknown {
  if (Array.isArray(value)) {
    let copy: unknown[] | undefined;
    for (let index = 0; index < value.length; index += 1) {
      const next = map(value[index], index);
      if (next !== value[index]) (copy ??= [...value])[index] = next;
    }
    return copy ?? value;
  }
  if (!isObject(value)) return value;
  let copy: PlainObject | undefined;
  for (const key of Object.keys(value)) {
    const next = map(value[key], key);
    if (next !== value[key]) (copy ??= { ...value })[key] = next;
  }
  return copy ?? value;
}

/** A copy that shares nothing with `value`. */
export function deepCopy<T>(value: T): T {
  if (Array.isArray(value)) return value.map(deepCopy) as T;
  if (!isObject(value)) return value;
  const copy: PlainObject = {};
  for (const key of Object.keys(value)) copy[key] = deepCopy(value[key]);
  return copy as T;
}

/** Equality of JSON5 values. */
export function sameValue(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((item, index) => sameValue(item, b[index]));
  if (!isObject(a) || !isObject(b)) return false;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && sameValue(a[key], b[key]));
}

/** The value at `path`, or undefined. Own properties only. */
export function valueAt(value: unknown, path: ValuePath): unknown {
  let at: unknown = value;
  for (const segment of path) {
    if (Array.isArray(at)) at = at[Number(segment)];
    else if (isObject(at) && Object.hasOwn(at, String(segment))) at = at[String(segment)];
    else return undefined;
  }
  return at;
}

export function hasPath(value: unknown, path: ValuePath): boolean {
  const last = path.at(-1);
  if (last === undefined) return value !== undefined;
  const parent = valueAt(value, path.slice(0, -1));
  if (Array.isArray(parent)) return Number(last) >= 0 && Number(last) < parent.length;
  return isObject(parent) && Object.hasOwn(parent, String(last));
}

/**
 * A copy of `value` with `next` at `path`. Objects are made on the way where nothing (or no container) stands; an array takes an index up to
 * its length. Returns undefined when the path cannot be: an unsafe key, or an index that would leave a hole.
 */
export function withValue(value: unknown, path: ValuePath, next: unknown): { readonly value: unknown } | undefined {
  const [first, ...rest] = path;
  if (first === undefined) return { value: next };
  if (UNSAFE_KEYS.has(String(first))) return undefined;
  if (Array.isArray(value)) return withItem(value, first, rest, next);
  const object = isObject(value) ? value : {};
  const key = String(first);
  const child = withValue(Object.hasOwn(object, key) ? object[key] : undefined, rest, next);
  return child && { value: { ...object, [key]: child.value } };
}

function withItem(value: readonly unknown[], first: PathSegment, rest: ValuePath, next: unknown): { readonly value: unknown } | undefined {
  const index = Number(first);
  if (!Number.isInteger(index) || index < 0 || index > value.length) return undefined;
  const child = withValue(value[index], rest, next);
  return child && { value: [...value.slice(0, index), child.value, ...value.slice(index + 1)] };
}

/** A copy of `value` without what stands at `path`; the same value when nothing does. */
export function withoutPath(value: unknown, path: ValuePath): unknown {
  const [first, ...rest] = path;
  if (first === undefined || !hasPath(value, path)) return value;
  if (Array.isArray(value)) {
    const index = Number(first);
    return rest.length === 0 ? value.toSpliced(index, 1) : value.with(index, withoutPath(value[index], rest));
  }
  if (!isObject(value)) return value;
  const { [String(first)]: child, ...others } = value;
  return rest.length === 0 ? others : { ...value, [String(first)]: withoutPath(child, rest) };
}

/**
 * Merges a patch: objects recursively, `null` deletes, scalars and arrays replace. An existing array whose items all have a string `id` is
 * merged by `id`; new items and items without one are appended, nothing is removed.
 */
export function mergePatch(base: unknown, patch: unknown): unknown {
  if (Array.isArray(patch) && Array.isArray(base) && base.length > 0 && base.every(hasId) && patch.every(isObject)) return mergeById(base, patch);
  if (!isObject(patch)) return patch;
  const merged: PlainObject = isObject(base) ? { ...base } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (UNSAFE_KEYS.has(key)) continue;
    if (value === null) delete merged[key];
    else merged[key] = mergePatch(merged[key], value);
  }
  return merged;
}

function hasId(item: unknown): item is PlainObject & { id: string } {
  return isObject(item) && typeof item["id"] === "string";
}

function mergeById(base: readonly (PlainObject & { id: string })[], patch: readonly PlainObject[]): unknown[] {
  const merged: unknown[] = [...base];
  // Of two items with one id the first is meant, so it is entered last.
  const places = new Map(base.map(({ id }, index) => [id, index] as const).reverse());
  for (const item of patch) {
    const index = hasId(item) ? places.get(item.id) : undefined;
    if (index === undefined) merged.push(mergePatch(undefined, item));
    else merged[index] = mergePatch(merged[index], item);
  }
  return merged;
}
