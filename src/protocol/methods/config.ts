import { method } from "../method.ts";
import { amount, anything, choice, closed, done, effect, filled, flag, free, list, map, maybe, none, number, open, orNull, text } from "../pieces.ts";

const Issue = open({ path: text(), message: text() });

const changeParams = effect({
  raw: filled({ description: "JSON5." }),
  baseHash: maybe(filled({ description: "Required if the file exists." })),
  sessionKey: maybe(text()),
  note: maybe(text()),
  restartDelayMs: maybe(amount({ default: 2000, description: "Values above 60000 count as 60000." })),
});

const changeResult = done({
  path: text(),
  config: anything(),
  restart: open({ ok: flag() }),
  sentinel: closed({ path: orNull(text()), payload: anything() }),
});

/** Reading and changing the configuration file. */
export const configMethods = {
  "config.get": method({
    access: "operator.read",
    params: none(),
    result: open({
      path: text(),
      exists: flag(),
      raw: orNull(text()),
      parsed: anything(),
      resolved: anything(),
      valid: flag(),
      config: anything(),
      hash: maybe(text()),
      issues: list(Issue),
      warnings: list(Issue),
      legacyIssues: list(Issue),
    }),
    effect: false,
    module: "config",
    summary: "Returns the configuration with its secrets hidden, and its problems.",
  }),
  "config.schema": method({
    access: "operator.admin",
    params: none(),
    result: closed({
      schema: free(),
      uiHints: map(
        closed({
          label: maybe(text()),
          help: maybe(text()),
          group: maybe(text()),
          order: maybe(number()),
          advanced: maybe(flag()),
          sensitive: maybe(flag()),
          placeholder: maybe(text()),
          itemTemplate: maybe(anything()),
          change: maybe(
            closed({
              kind: choice(["none", "hot", "restart"]),
              does: text({ description: "What a change of it causes. Without `change`: same as the parent key." }),
            }),
          ),
        }),
      ),
      version: text(),
      hash: maybe(text({ description: "Changes when plugins change the schema." })),
      generatedAt: text(),
    }),
    effect: false,
    module: "config",
    summary: "Returns the JSON Schema of the configuration, and hints for forms.",
  }),
  "config.set": method({
    access: "operator.admin",
    params: effect({ raw: filled({ description: "JSON5." }), baseHash: maybe(filled()) }),
    result: done({ path: text(), config: anything() }),
    effect: true,
    module: "config",
    summary: "Replaces the whole file. `baseHash` is required if the file exists.",
  }),
  "config.apply": method({
    access: "operator.admin",
    params: changeParams,
    result: changeResult,
    effect: true,
    module: "config",
    summary: "Replaces the whole file and restarts. Three calls a minute together with `config.patch` and `update.run`.",
  }),
  "config.patch": method({
    access: "operator.admin",
    params: changeParams,
    result: changeResult,
    effect: true,
    module: "config",
    summary: "Merges a JSON merge patch into the file and restarts; arrays of objects merge by id.",
  }),
};
