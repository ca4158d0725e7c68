import { lazy } from "../../base/lazy.ts";
import { maskValue } from "../../base/secret-search.ts";
import { isControlCommandMessage } from "../../channels/index.ts";
import type { OpenClawConfig } from "../../config/index.ts";
import type { Commands } from "./commands.ts";

/** Commands whose code is loaded with the first message that may be one. `redact` masks secrets in their answers. */
export function lazyCommands(
  { config, redact }: { readonly config: () => OpenClawConfig; readonly redact: (text: string) => string },
  load: () => Promise<Commands>,
): Commands {
  const open = lazy(load);
  return {
    isControl: (text, options) => isControlCommandMessage(text, config(), options),
    async run(call) {
      const result = await (await open()).run(call);
      return result.kind === "answered" ? { ...result, reply: maskValue(result.reply, redact) } : result;
    },
    native: async (...args) => (await open()).native(...args),
    list: async (...args) => (await open()).list(...args),
  };
}
