import { covers, type MethodResult } from "../../protocol/index.ts";
import type { HandlersOf } from "./handler.ts";

/** What the gateway does now and did before, for a page. */
export interface OverviewPort {
  /** Places on disk are shown to who may change things. */
  now(asker: { readonly admin: boolean }): Promise<MethodResult<"overview">>;
  history(hours: number): Promise<MethodResult<"overview.history">>;
}

export function overviewHandlers(overview: OverviewPort): HandlersOf<"overview" | "overview.history"> {
  return {
    overview: (_params, { caller }) => overview.now({ admin: covers(caller.scopes, "operator.admin") }),
    "overview.history": ({ hours = 24 }) => overview.history(hours),
  };
}
