import type { Plugin } from "rolldown";
import { EVENTS, METHODS } from "../../src/protocol/catalog.ts";
import { CHECKED_SCHEMAS } from "../../src/protocol/schemas.ts";
import { asModule, withoutDescriptions } from "../frozen-module.ts";
import { protocolSchema } from "./schema.ts";

/**
 * Puts the facts about methods and events, and the schemas of what clients send, into the bundle as JSON, so that no schema library is loaded
 * to answer a request. With `writesSchema` the whole wire is written beside it as `protocol.schema.json`.
 */
export function frozenProtocol({ writesSchema = false }: { readonly writesSchema?: boolean } = {}): Plugin {
  return {
    name: "frozen-protocol",
    load(id) {
      if (id.endsWith("src/protocol/catalog.ts")) return { code: `${asModule("METHODS", METHODS)}\n${asModule("EVENTS", EVENTS)}`, moduleType: "js" };
      if (id.endsWith("src/protocol/schemas.ts")) return { code: asModule("CHECKED_SCHEMAS", withoutDescriptions(CHECKED_SCHEMAS)), moduleType: "js" };
      return undefined;
    },
    generateBundle() {
      if (writesSchema) this.emitFile({ type: "asset", fileName: "protocol.schema.json", source: `${JSON.stringify(protocolSchema(), undefined, 2)}\n` });
    },
  };
}
