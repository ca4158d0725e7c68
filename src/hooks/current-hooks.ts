import type { Hooks } from "./hooks.ts";

/** The hooks of the plugins that run at the moment of each call: plugins come and go while the gateway runs. */
export function currentHooks(current: () => Pick<Hooks, "has" | "run"> | undefined): Pick<Hooks, "has" | "run"> {
  return {
    has: (hook, ctx) => current()?.has(hook, ctx) ?? false,
    run: (...args: Parameters<Hooks["run"]>) => current()?.run(...args),
  };
}
