/** Schemas of a plugin's own configuration. */
import { recordOf } from "../account-ids.ts";
import type { OpenClawPluginConfigSchema } from "../types/definition.ts";

/** For a plugin without settings: nothing, or an empty object. */
export function emptyPluginConfigSchema(): OpenClawPluginConfigSchema {
  const wrong = (message: string) => ({ success: false, error: { issues: [{ path: [], message }] } });
  return {
    safeParse(value) {
      if (value === undefined) return { success: true, data: undefined };
      const config = recordOf(value);
      if (!config) return wrong("expected config object");
      return Object.keys(config).length > 0 ? wrong("config must be empty") : { success: true, data: value };
    },
    jsonSchema: { type: "object", additionalProperties: false, properties: {} },
  };
}
