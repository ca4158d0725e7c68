import type { OpenClawConfig } from "../../config/index.ts";

/** `tools.loopDetection` with its defaults. The thresholds rise. */
export interface LoopSettings {
  readonly enabled: boolean;
  /** Calls that are looked at. */
  readonly historySize: number;
  readonly warningThreshold: number;
  readonly criticalThreshold: number;
  readonly globalCircuitBreakerThreshold: number;
  readonly detectors: { readonly genericRepeat: boolean; readonly knownPollNoProgress: boolean; readonly pingPong: boolean };
}

export const LOOP_DEFAULTS: LoopSettings = {
  enabled: false,
  historySize: 30,
  warningThreshold: 10,
  criticalThreshold: 20,
  globalCircuitBreakerThreshold: 30,
  detectors: { genericRepeat: true, knownPollNoProgress: true, pingPong: true },
};

type Written = NonNullable<NonNullable<OpenClawConfig["tools"]>["loopDetection"]>;

/** What holds for an agent: its own settings over the general ones, key by key. */
export function loopSettings(config: OpenClawConfig, agentId: string): LoopSettings {
  const own = config.agents?.list?.find((agent) => agent.id.toLowerCase() === agentId.toLowerCase())?.tools?.loopDetection;
  const layers: readonly (Written | undefined)[] = [own, config.tools?.loopDetection];
  const number = (key: "historySize" | "warningThreshold" | "criticalThreshold" | "globalCircuitBreakerThreshold"): number =>
    layers.find((layer) => layer?.[key] !== undefined)?.[key] ?? LOOP_DEFAULTS[key];
  const detector = (key: keyof LoopSettings["detectors"]): boolean => layers.find((layer) => layer?.detectors?.[key] !== undefined)?.detectors?.[key] ?? true;
  const warningThreshold = number("warningThreshold");
  const criticalThreshold = Math.max(number("criticalThreshold"), warningThreshold + 1);
  const globalCircuitBreakerThreshold = Math.max(number("globalCircuitBreakerThreshold"), criticalThreshold + 1);
  return {
    enabled: layers.find((layer) => layer?.enabled !== undefined)?.enabled ?? LOOP_DEFAULTS.enabled,
    // A window that is shorter than a threshold would never reach it.
    historySize: Math.max(number("historySize"), globalCircuitBreakerThreshold),
    warningThreshold,
    criticalThreshold,
    globalCircuitBreakerThreshold,
    detectors: { genericRepeat: detector("genericRepeat"), knownPollNoProgress: detector("knownPollNoProgress"), pingPong: detector("pingPong") },
  };
}
