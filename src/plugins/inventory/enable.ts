import type { PluginOrigin } from "../record.ts";
import { isNamed, type PluginSettings } from "./settings.ts";

/** A plugin as the decision sees it. */
export interface Subject {
  readonly id: string;
  readonly origin: PluginOrigin;
  readonly kinds: readonly string[];
  /** `enabledByDefault` of a bundled plugin's manifest. */
  readonly defaultOn: boolean;
  /** Why the configuration needs it without naming it: `channel telegram is configured`. */
  readonly need: string | undefined;
}

export interface Decision {
  readonly enabled: boolean;
  /** Always there for what is off; for what is on, where that is not the default. */
  readonly reason?: string;
}

/** Bundled plugins that are on without being asked for. */
const DEFAULT_ON = new Set(["device-pair", "phone-control", "talk-voice"]);

const on = (reason?: string): Decision => (reason === undefined ? { enabled: true } : { enabled: true, reason });
const off = (reason: string): Decision => ({ enabled: false, reason });

/** Whether a plugin is on, and why. The first rule that fits decides; then a memory plugin must have the memory slot. */
export function decide(subject: Subject, settings: PluginSettings): Decision {
  const decision = byRules(subject, settings);
  if (!decision.enabled || !subject.kinds.includes("memory") || settings.memorySlot === subject.id) return decision;
  return off(settings.memorySlot === null ? "memory slot disabled" : `memory slot set to "${settings.memorySlot}"`);
}

function byRules({ id, origin, defaultOn, need }: Subject, settings: PluginSettings): Decision {
  if (!settings.enabled) return off("plugins disabled");
  if (settings.deny.has(id)) return off("blocked by denylist");
  // A channel or provider that is configured counts as allowed: the operator asked for it where it is set up.
  if (settings.allow.length > 0 && !settings.allow.includes(id) && need === undefined) return off("not in allowlist");
  const asked = settings.entries.get(id)?.enabled;
  if (origin === "workspace") {
    if (asked === false) return off("disabled in config");
    return isNamed(settings, id) ? on("named in config") : off("workspace plugin (disabled by default)");
  }
  if (settings.memorySlot === id) return on("holds the memory slot");
  if (asked !== undefined) return asked ? on("enabled in config") : off("disabled in config");
  if (origin !== "bundled") return on();
  if (defaultOn || DEFAULT_ON.has(id)) return on("bundled (enabled by default)");
  return need === undefined ? off("bundled (disabled by default)") : on(need);
}
