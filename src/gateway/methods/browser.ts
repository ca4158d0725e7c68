import type { BrowserRequest } from "../../browser/index.ts";
import { covers } from "../../protocol/index.ts";
import type { HandlersOf } from "./handler.ts";

export interface BrowserMethodDeps {
  readonly request: (request: BrowserRequest) => Promise<unknown>;
}

/** The controlled browser. */
export function browserHandlers({ request }: BrowserMethodDeps) {
  return {
    "browser.request": ({ method, path, query, body, timeoutMs }, { signal, caller }) =>
      request({
        method,
        path,
        query: query ?? {},
        body,
        timeoutMs,
        signal,
        caller: `client:${caller.deviceId ?? caller.client.id}`,
        mayConfigure: covers(caller.scopes, "operator.admin"),
      }),
  } satisfies HandlersOf<"browser">;
}
