import { HOOKS } from "./catalog.ts";
import type { HookName } from "./events/index.ts";
import type { HookSettings } from "./settings.ts";

/** Why a plugin may not register a hook, or nothing when it may. */
export function checkHookAccess(hook: HookName, settings: HookSettings, pluginId = "<id>"): string | undefined {
  if (HOOKS[hook].access === "open" || settings.bundled || settings.allowConversationAccess === true) return undefined;
  return `${hook} reads conversations: set plugins.entries.${pluginId}.hooks.allowConversationAccess to true to allow it to ${pluginId}`;
}
