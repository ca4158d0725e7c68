import { changesBetween } from "./diff.ts";
import type { Loaded } from "./load.ts";
import type { OpenClawConfig } from "./schema/index.ts";
import { isObject, type PlainObject } from "./value.ts";

/**
 * What is in use after a change of which `held` waits for a restart: the texts and positions of the new file, and its values except at those paths.
 * Variables stay as they were when the values that come from them do.
 */
export function withHeld(before: Loaded, next: Loaded, held: readonly string[], keepEnv: boolean): Loaded {
  const waiting = new Set(held);
  const kept = changesBetween(before.snapshot.config, next.snapshot.config).filter(({ path }) => waiting.has(path.join(".")));
  let config: PlainObject = next.snapshot.config as PlainObject;
  for (const { path, before: value } of kept) config = withValue(config, path, value);
  return { ...next, env: keepEnv ? before.env : next.env, snapshot: { ...next.snapshot, config: config as OpenClawConfig } };
}

/** A copy of an object with another value at a path; undefined removes the key, and objects that have nothing left with it. */
function withValue(object: PlainObject, [key, ...rest]: readonly string[], value: unknown): PlainObject {
  if (key === undefined) return isObject(value) ? value : {};
  const child = Object.hasOwn(object, key) ? object[key] : undefined;
  const next = rest.length === 0 ? value : withValue(isObject(child) ? child : {}, rest, value);
  const { [key]: _, ...others } = object;
  const isGone = next === undefined || (rest.length > 0 && value === undefined && isObject(next) && Object.keys(next).length === 0);
  return isGone ? others : { ...object, [key]: next };
}
