import { changesBetween, diffPaths } from "./diff.ts";
import type { Loaded } from "./load.ts";
import { planReload, type ReloadMode, type ReloadPlan } from "./reload-rules.ts";
import type { OpenClawConfig } from "./schema/index.ts";
import { hasPath, isObject, valueAt, withoutPath, withValue } from "./value.ts";

export interface Taken {
  readonly inUse: Loaded;
  readonly plan: ReloadPlan;
}

/** What a newly read configuration changes. `holds`: what the mode leaves for the next restart stays as it was. */
export function takeIn(before: Loaded, next: Loaded, mode: ReloadMode, facts: { readonly channels: readonly string[]; readonly holds: boolean }): Taken {
  const planned = planReload(diffPaths(before.snapshot.config, next.snapshot.config), mode, facts.channels);
  if (!facts.holds) return { inUse: next, plan: { paths: planned.paths, actions: planned.actions } };
  const { held = [] } = planned;
  const keepEnv = mode === "off" || held.some((path) => path === "env" || path.startsWith("env."));
  return { inUse: held.length > 0 || keepEnv ? withHeld(before, next, held, keepEnv) : next, plan: planned };
}

/**
 * What is in use after a change of which `held` waits for a restart: the texts and positions of the new file, and its values except at those paths.
 * Variables stay as they were when the values that come from them do.
 */
function withHeld(before: Loaded, next: Loaded, held: readonly string[], keepEnv: boolean): Loaded {
  const waiting = new Set(held);
  const kept = changesBetween(before.snapshot.config, next.snapshot.config).filter(({ path }) => waiting.has(path.join(".")));
  let config: unknown = next.snapshot.config;
  for (const { path, before: value } of kept) {
    config = value === undefined ? withoutValue(config, path, before.snapshot.config) : (withValue(config, path, value)?.value ?? config);
  }
  return { ...next, env: keepEnv ? before.env : next.env, snapshot: { ...next.snapshot, config: config as OpenClawConfig } };
}

/** Without a key, and without the objects that are empty then and that `like` does not have. */
function withoutValue(config: unknown, path: readonly string[], like: unknown): unknown {
  let next = withoutPath(config, path);
  for (let depth = path.length - 1; depth > 0; depth -= 1) {
    const above = path.slice(0, depth);
    const object = valueAt(next, above);
    if (!isObject(object) || Object.keys(object).length > 0 || hasPath(like, above)) break;
    next = withoutPath(next, above);
  }
  return next;
}
