import { method } from "../method.ts";
import { amount, anything, choice, effect, filled, free, maybe } from "../pieces.ts";

/** The controlled browser. */
export const browserMethods = {
  "browser.request": method({
    access: "operator.write",
    params: effect({
      method: choice(["GET", "POST", "DELETE"]),
      path: filled(),
      query: maybe(free()),
      body: maybe(anything()),
      timeoutMs: maybe(amount()),
    }),
    result: anything(),
    effect: true,
    module: "browser",
    summary: "Calls a browser control route: on the one node with a browser, otherwise on this machine.",
  }),
};
