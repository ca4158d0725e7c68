import { isFields, type ValuePath } from "./path.ts";

/** One step from a configuration to another. */
export type Operation = { readonly do: "set"; readonly path: ValuePath; readonly value: unknown } | { readonly do: "unset"; readonly path: ValuePath };

/** True when both are the same value, whatever the order of keys. */
export function same(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, at) => same(item, b[at]));
  if (!isFields(a) || !isFields(b)) return false;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && same(a[key], b[key]));
}

/** The fewest steps that lead from `before` to `after`. A list that changed is set as a whole: its places mean nothing in another text. */
export function operationsBetween(before: unknown, after: unknown, path: ValuePath = []): Operation[] {
  if (same(before, after)) return [];
  if (!isFields(before) || !isFields(after)) return path.length === 0 ? [] : [{ do: "set", path, value: after }];
  const gone = Object.keys(before).filter((key) => !Object.hasOwn(after, key));
  return [
    ...gone.map((key): Operation => ({ do: "unset", path: [...path, key] })),
    ...Object.keys(after).flatMap((key): Operation[] =>
      Object.hasOwn(before, key) ? operationsBetween(before[key], after[key], [...path, key]) : [{ do: "set", path: [...path, key], value: after[key] }],
    ),
  ];
}

/** Paths that both changed, each in its own way. */
export function clashes(mine: readonly Operation[], theirs: readonly Operation[]): ValuePath[] {
  const overlaps = (a: ValuePath, b: ValuePath): boolean => a.slice(0, b.length).every((part, at) => part === b[at]);
  const agree = (a: Operation, b: Operation): boolean =>
    a.do === b.do && a.path.length === b.path.length && (a.do === "unset" || same(a.value, (b as typeof a).value));
  return mine.filter((one) => theirs.some((other) => overlaps(one.path, other.path) && !agree(one, other))).map(({ path }) => path);
}
