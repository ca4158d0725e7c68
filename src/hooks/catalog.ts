import { AppError } from "../base/errors.ts";
import { keysOf } from "../base/records.ts";
import { agentHooks } from "./catalog/agent.ts";
import { lifecycleHooks } from "./catalog/lifecycle.ts";
import { messageHooks } from "./catalog/messages.ts";
import { sessionHooks } from "./catalog/sessions.ts";
import { toolHooks } from "./catalog/tools.ts";
import type { HookName } from "./events/index.ts";
import type { HookSpec } from "./spec.ts";

/**
 * Every hook: its meaning, how results are merged, what a failure means. The runner, the conformance suite and the documentation are derived from it.
 */
export const HOOKS: Readonly<Record<HookName, HookSpec>> = { ...agentHooks, ...toolHooks, ...messageHooks, ...sessionHooks, ...lifecycleHooks };

/** Old names that still work. */
export const HOOK_ALIASES = { deactivate: "gateway_stop" } as const satisfies Readonly<Record<string, HookName>>;
export type HookAlias = keyof typeof HOOK_ALIASES;

const NAMES: ReadonlyMap<string, HookName> = new Map([...keysOf(HOOKS).map((name) => [name, name] as const), ...Object.entries(HOOK_ALIASES)]);

/** The hook of a name or an old name, if there is one. */
export function resolveHookName(name: string): HookName | undefined {
  return NAMES.get(name);
}

/** The same, but throws for an unknown name. */
export function requireHookName(name: string): HookName {
  const found = resolveHookName(name);
  if (found) return found;
  const near = nearest(name);
  const advice = near.length > 0 ? `did you mean ${near.join(", ")}?` : "docs/plugins/hooks.md lists them all";
  throw new AppError("INVALID_INPUT", `there is no hook named ${JSON.stringify(name)}; ${advice}`, { details: { hook: name } });
}

/** Up to three hooks that share the most words with a name. */
function nearest(name: string): string[] {
  const words = new Set(name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`).split(/[^a-z]+/));
  const scored = Object.keys(HOOKS).map((known) => ({ known, score: known.split("_").filter((word) => words.has(word)).length }));
  const best = Math.max(...scored.map(({ score }) => score));
  return best === 0 ? [] : scored.flatMap(({ known, score }) => (score === best ? [known] : [])).slice(0, 3);
}
