/** Hooks from files: loaded with the first that is needed. */
export { findHooks, hooksOf, managedFolder, HOOK_FILE, type FindHooksDeps, type FoundHooks, type HookPlaces, type HookProblem } from "./find-hooks.ts";
export { BUNDLED_HOOKS } from "./bundled/catalog.ts";
export { whyNot, type Hook, type HookState, type KnownHook } from "./hook.ts";
export { loadHooks, type HookModule, type LoadedHook, type LoadHooksDeps } from "./load-hooks.ts";
