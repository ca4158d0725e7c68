import { lazy } from "../../base/lazy.ts";
import { isControlCommandMessage } from "../../channels/index.ts";
import type { OpenClawConfig } from "../../config/index.ts";
import type { Commands } from "../../conversation/index.ts";

/** Commands whose code is loaded with the first message that may be one. */
export function lazyCommands(config: () => OpenClawConfig, load: () => Promise<Commands>): Commands {
  const open = lazy(load);
  return {
    isControl: (text, options) => isControlCommandMessage(text, config(), options),
    run: async (call) => (await open()).run(call),
    native: async (...args) => (await open()).native(...args),
    list: async (...args) => (await open()).list(...args),
  };
}
