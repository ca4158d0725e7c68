import { isObject, sameValue, type PlainObject } from "./value.ts";

/**
 * Paths, dotted, at which two configurations differ. Objects are compared key by key, anything else whole; of channels each is a difference of its own, also
 * the first and the last.
 */
export function diffPaths(before: unknown, after: unknown): string[] {
  return changesBetween(withChannels(before, after), withChannels(after, before)).map((change) => change.path.join("."));
}

const withChannels = (config: unknown, other: unknown): unknown =>
  isObject(config) && isObject(other) && isObject(other["channels"]) && config["channels"] === undefined ? { ...config, channels: {} } : config;

export interface ValueChange {
  readonly path: readonly string[];
  readonly before: unknown;
  /** Undefined: the key went. */
  readonly after: unknown;
}

/** The same with values. */
export function changesBetween(before: unknown, after: unknown, path: readonly string[] = []): ValueChange[] {
  if (isObject(before) && isObject(after)) {
    const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
    return [...keys].flatMap((key) => changesBetween(own(before, key), own(after, key), [...path, key]));
  }
  return sameValue(before, after) ? [] : [{ path, before, after }];
}

function own(object: PlainObject, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}
