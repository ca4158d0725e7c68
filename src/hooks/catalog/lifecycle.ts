import type { LifecycleHooks } from "../events/index.ts";
import type { HookSpec } from "../spec.ts";
import { blocked, blockEnds, blocking, decide, observe } from "./kinds.ts";

/** The gateway itself, its schedule, installations, pairing requests. */
export const lifecycleHooks: Readonly<Record<keyof LifecycleHooks, HookSpec>> = {
  gateway_start: observe("lifecycle", "The gateway is listening."),
  gateway_stop: observe("lifecycle", "The gateway is stopping.", { budgetMs: 5_000 }),
  cron_changed: observe("lifecycle", "A scheduled job was added, changed, removed, scheduled, started or finished. A removed job includes its last state."),
  cron_reconciled: observe("lifecycle", "The schedule was loaded, at start or on a reload.", { newer: true }),
  before_install: decide("lifecycle", "A skill or plugin was unpacked and checked, and the operator's policy allows it: adds findings or blocks it.", {
    onThrow: "block",
    onTimeout: "block",
    fields: { findings: { type: "list", merge: "append" }, ...blocking },
    terminal: blockEnds,
    blocked,
  }),
  channel_pairing_requested: observe("lifecycle", "An unknown sender requests pairing on a channel.", { budgetMs: 2_000, newer: true }),
};
