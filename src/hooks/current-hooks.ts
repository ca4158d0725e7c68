import type { TurnHooks } from "../agent/index.ts";
import type { Hooks } from "../hooks/index.ts";
import type { Plugins } from "./plugins/index.ts";

/** Plugins come and go while the gateway runs: what is asked is whoever is there now. */
export function currentHooks(plugins: Pick<Plugins, "hooks">): TurnHooks {
  return {
    has: (hook, ctx) => plugins.hooks()?.has(hook, ctx) ?? false,
    run: (...args: Parameters<Hooks["run"]>) => plugins.hooks()?.run(...args),
  };
}
