/** Whether a value is data that a view copies. Instances, buffers, dates, signals and functions are passed unchanged. */
export function isPlain(value: unknown): value is Record<PropertyKey, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === Array.prototype || prototype === null;
}

/** A plain object that is not a list. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return isPlain(value) && !Array.isArray(value);
}
