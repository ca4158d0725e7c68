const DURATION_MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const SIZE_BYTES = { b: 1, k: 1024, kb: 1024, m: 1024 ** 2, mb: 1024 ** 2, g: 1024 ** 3, gb: 1024 ** 3, t: 1024 ** 4, tb: 1024 ** 4 } as const;

export type DurationUnit = keyof typeof DURATION_MS;

function parseAmount(text: string): { amount: number; unit: string } | undefined {
  const match = /^(\d+(?:\.\d+)?)\s*([a-z]*)$/.exec(text.trim().toLowerCase());
  if (!match) return undefined;
  const amount = Number(match[1]);
  return Number.isFinite(amount) ? { amount, unit: match[2]! } : undefined;
}

/** `1.5h` → 5400000 (milliseconds). A bare number counts in `defaultUnit`. Undefined when it is no duration. */
export function parseDuration(text: string | number, defaultUnit: DurationUnit): number | undefined {
  const parsed = parseAmount(String(text));
  if (!parsed) return undefined;
  const unit = parsed.unit === "" ? defaultUnit : parsed.unit;
  if (!Object.hasOwn(DURATION_MS, unit)) return undefined;
  return Math.round(parsed.amount * DURATION_MS[unit as DurationUnit]);
}

/** `10mb` → 10485760 (bytes, units of 1024). A bare number counts in bytes. Undefined when it is no size. */
export function parseSize(text: string | number): number | undefined {
  const parsed = parseAmount(String(text));
  if (!parsed) return undefined;
  const unit = parsed.unit === "" ? "b" : parsed.unit;
  if (!Object.hasOwn(SIZE_BYTES, unit)) return undefined;
  return Math.round(parsed.amount * SIZE_BYTES[unit as keyof typeof SIZE_BYTES]);
}
