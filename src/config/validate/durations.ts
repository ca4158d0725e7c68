export type DurationUnit = "ms" | "s" | "m" | "h" | "d";

const DURATION_MS: ReadonlyMap<string, number> = new Map(
  Object.entries({ ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } satisfies Record<DurationUnit, number>),
);
const SIZE_BYTES: ReadonlyMap<string, number> = new Map(
  Object.entries({ b: 1, k: 1024, kb: 1024, m: 1024 ** 2, mb: 1024 ** 2, g: 1024 ** 3, gb: 1024 ** 3, t: 1024 ** 4, tb: 1024 ** 4 }),
);

/** Between two heartbeats. A shorter time would do nothing but ask a model all the time. */
export const SHORTEST_HEARTBEAT_MS = 1000;

/** An amount with its unit, in the smallest unit. */
function parseAmount(text: string, units: ReadonlyMap<string, number>, defaultUnit: string): number | undefined {
  const match = /^(\d+(?:\.\d+)?)\s*([a-z]*)$/.exec(text.trim().toLowerCase());
  const amount = Number(match?.[1]);
  const unit = units.get(match?.[2] || defaultUnit);
  return Number.isFinite(amount) && unit !== undefined ? Math.round(amount * unit) : undefined;
}

/** `1.5h` → 5400000 (milliseconds). A bare number counts in `defaultUnit`. Undefined when it is no duration. */
export function parseDuration(text: string | number, defaultUnit: DurationUnit): number | undefined {
  return parseAmount(String(text), DURATION_MS, defaultUnit);
}

/** `10mb` → 10485760 (bytes, units of 1024). A bare number counts in bytes. Undefined when it is no size. */
export function parseSize(text: string | number): number | undefined {
  return parseAmount(String(text), SIZE_BYTES, "b");
}
