import type { Random } from "../../../base/random.ts";
import type { HumanDelayConfig } from "../../../protocol/index.ts";

const NATURAL = { minMs: 800, maxMs: 2500 };

/** The pause before the next block, in milliseconds. */
export function humanDelayMs(config: HumanDelayConfig | undefined, random: Random): number {
  const mode = config?.mode ?? "off";
  if (mode === "off") return 0;
  const { minMs, maxMs } = mode === "natural" ? NATURAL : { minMs: config?.minMs ?? NATURAL.minMs, maxMs: config?.maxMs ?? NATURAL.maxMs };
  const least = Math.max(0, minMs);
  return Math.round(least + random.float() * Math.max(0, maxMs - least));
}
