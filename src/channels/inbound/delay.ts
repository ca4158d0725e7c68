/** The pause between replies that makes them look typed. */
import type { HostConfig, HumanDelayConfig } from "../../protocol/index.ts";

const sectionOf = (value: unknown): HumanDelayConfig | undefined => (typeof value === "object" && value !== null ? value : undefined);

/** The agent's setting over the general one, key by key. Undefined where none is set. */
export function resolveHumanDelayConfig(cfg: HostConfig, agentId: string): HumanDelayConfig | undefined {
  const general = sectionOf(cfg.agents?.defaults?.["humanDelay"]);
  const own = sectionOf(cfg.agents?.list?.find((entry) => entry.id.toLowerCase() === agentId.trim().toLowerCase())?.["humanDelay"]);
  if (!general && !own) return undefined;
  return { mode: own?.mode ?? general?.mode, minMs: own?.minMs ?? general?.minMs, maxMs: own?.maxMs ?? general?.maxMs };
}
