import type { Logger } from "../../base/log/logger.ts";
import type { OpenClawConfig } from "../../config/index.ts";
import type { BrokerDeps } from "../broker/broker.ts";
import { createLoopGuard, type LoopAlarm, type LoopGuard } from "./loop-guard.ts";
import { loopSettings, type LoopSettings } from "./settings.ts";

/** Sessions that are watched at a time; the one that has rested longest is forgotten first. */
const MAX_SESSIONS = 512;

export interface SessionLoopsDeps {
  readonly config: () => OpenClawConfig;
  readonly log: Logger;
  /** Told every alarm, for diagnostics. */
  readonly onAlarm?: (alarm: LoopAlarm & { readonly sessionKey: string; readonly tool: string }) => void;
}

/** A guard per session, as the broker takes it: `createBroker({ …, ...sessionLoops({ config, log }) })`. */
export function sessionLoops(deps: SessionLoopsDeps): Required<Pick<BrokerDeps, "loopGuard" | "onOutcome">> {
  const guards = new Map<string, { readonly settings: LoopSettings; readonly guard: LoopGuard; readonly config: OpenClawConfig }>();

  function guardOf(agentId: string, sessionKey: string): LoopGuard | undefined {
    const config = deps.config();
    const known = guards.get(sessionKey);
    if (known?.config === config) {
      guards.delete(sessionKey);
      guards.set(sessionKey, known);
      return known.guard;
    }
    const settings = loopSettings(config, agentId);
    guards.delete(sessionKey);
    if (!settings.enabled) return undefined;
    const guard = known && JSON.stringify(known.settings) === JSON.stringify(settings) ? known.guard : createLoopGuard(settings);
    guards.set(sessionKey, { settings, guard, config });
    if (guards.size > MAX_SESSIONS) guards.delete(guards.keys().next().value!);
    return guard;
  }

  return {
    loopGuard({ name, params, context: { agentId, sessionKey } }) {
      const alarm = guardOf(agentId, sessionKey)?.check({ name, params });
      if (!alarm) return undefined;
      deps.log.warn(alarm.text, { sessionKey, tool: name, detector: alarm.detector, level: alarm.level });
      deps.onAlarm?.({ ...alarm, sessionKey, tool: name });
      return alarm.level === "critical" ? alarm.text : undefined;
    },
    onOutcome({ name, params, context: { agentId, sessionKey }, outcome }) {
      guardOf(agentId, sessionKey)?.record({ name, params, outcome });
    },
  };
}
