import { invalid } from "./refusal.ts";

interface Kinds {
  readonly string: string;
  readonly boolean: boolean;
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A field that may be absent or null, but not of another type. */
export function optional<Kind extends keyof Kinds>(body: Readonly<Record<string, unknown>>, name: string, kind: Kind): Kinds[Kind] | undefined {
  const value = body[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== kind) throw invalid(`\`${name}\` must be a ${kind}`, name);
  return value as Kinds[Kind];
}
