import { method } from "../method.ts";
import {
  amount,
  anything,
  choice,
  closed,
  count,
  done,
  effect,
  flag,
  list,
  literal,
  maybe,
  moment,
  none,
  number,
  open,
  orNull,
  text,
  texts,
} from "../pieces.ts";

const Git = closed({
  branch: orNull(text()),
  commit: text(),
  subject: text(),
  dirty: flag({ description: "Files of the program were changed by hand." }),
  upstream: orNull(text()),
  behind: orNull(amount({ description: "Commits that the upstream has and this checkout does not, as of the last fetch." })),
  ahead: orNull(amount()),
  fetchedAtMs: orNull(moment()),
  incoming: texts({ description: "Their subjects, newest first, 50 at most." }),
});

const Status = closed({
  version: text(),
  node: text(),
  startedAtMs: moment(),
  install: choice(["checkout", "package"]),
  root: orNull(text()),
  onDisk: orNull(text({ description: "The version in the program's folder." })),
  isStale: flag({ description: "The build on disk is newer than the running one." }),
  isService: flag({ description: "A service manager started this process." }),
  git: orNull(Git),
  changes: list(closed({ version: text(), text: text({ description: "Markdown." }) }), { description: "From the changelog: what is new, newest first." }),
  commands: texts({ description: "Commands to update manually, in order." }),
  restartCommand: text({ description: "Restarts the process with the program on disk." }),
  problem: orNull(text()),
});

/** Replacing the running version. */
export const updateMethods = {
  "update.status": method({
    access: "operator.admin",
    params: none(),
    result: Status,
    effect: false,
    module: "app",
    summary: "Returns the running version, what is known about newer ones, and how to update. Makes no network request.",
  }),
  "update.check": method({
    access: "operator.admin",
    params: effect({ confirm: literal(true) }),
    result: Status,
    effect: true,
    module: "app",
    summary: "The same after a fetch from the upstream of the checkout.",
  }),
  "update.restart": method({
    access: "operator.admin",
    params: effect({ confirm: literal(true) }),
    result: done({ delayMs: amount() }),
    effect: true,
    module: "app",
    summary: "Restarts the gateway within its process: configuration, plugins and channels are loaded again, the program is not.",
  }),
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
    summary: "Updates the program and restarts it on success. Three calls a minute together with `config.apply` and `config.patch`.",
  }),
};
