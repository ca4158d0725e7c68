import { method } from "../method.ts";
import { amount, anything, choice, count, effect, flag, list, maybe, number, open, orNull, text } from "../pieces.ts";

/** Replacing the running version. */
export const updateMethods = {
  "update.run": method({
    access: "operator.admin",
    params: effect({
      sessionKey: maybe(text()),
      note: maybe(text()),
      restartDelayMs: maybe(amount()),
      timeoutMs: maybe(count()),
    }),
    result: open({
      ok: flag(),
      result: open({
        status: choice(["ok", "error", "skipped"]),
        mode: text(),
        reason: maybe(text()),
        steps: list(anything()),
        durationMs: number(),
      }),
      restart: orNull(anything()),
      sentinel: anything(),
    }),
    effect: true,
    module: "app",
    summary: "Updates the program and restarts it when that worked. Three calls a minute together with `config.apply` and `config.patch`.",
  }),
};
