import { invalid } from "./refusal.ts";

interface Kinds {
  readonly string: string;
  readonly boolean: boolean;
}

type Fields = Readonly<Record<string, unknown>>;

/** The first of these fields that is there: a whole number above zero. */
export function positive(body: Fields, ...names: readonly string[]): number | undefined {
  const name = names.find((known) => body[known] !== undefined && body[known] !== null);
  if (name === undefined) return undefined;
  const value = body[name];
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value <= 0) throw invalid(`\`${name}\` must be a positive integer`, name);
  return value;
}

/** How freely the model chooses its words: 0 to 2. */
export function temperatureOf(body: Fields): number | undefined {
  const value = body["temperature"];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "number" || !(value >= 0 && value <= 2)) throw invalid("`temperature` must be a number from 0 to 2", "temperature");
  return value;
}

/** A field that may be absent or null, but not of another type. */
export function optional<Kind extends keyof Kinds>(body: Readonly<Record<string, unknown>>, name: string, kind: Kind): Kinds[Kind] | undefined {
  const value = body[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== kind) throw invalid(`\`${name}\` must be a ${kind}`, name);
  return value as Kinds[Kind];
}
