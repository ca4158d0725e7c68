import { covers, type MethodResult } from "../../protocol/index.ts";
import type { HandlersOf } from "./handler.ts";

/** What the gateway does now, for a page. Places on disk are shown to who may change things. */
export type OverviewPort = (asker: { readonly admin: boolean }) => Promise<MethodResult<"overview">>;

export function overviewHandlers(overview: OverviewPort): HandlersOf<"overview"> {
  return { overview: (_params, { caller }) => overview({ admin: covers(caller.scopes, "operator.admin") }) };
}
