/** JSON Schema of a choice of texts that fits into an object made by TypeBox of either generation, without loading it. */
import type { TOptional, TUnsafe } from "typebox";

export interface StringEnumOptions<T extends readonly string[]> {
  description?: string | undefined;
  title?: string | undefined;
  default?: T[number] | undefined;
}

/** What TypeBox knows a schema by: older versions by symbols, newer ones by hidden keys. */
function marked(schema: object, marks: Readonly<Record<PropertyKey, unknown>>): object {
  for (const key of Reflect.ownKeys(marks)) Object.defineProperty(schema, key, { value: marks[key], enumerable: typeof key === "symbol" });
  return schema;
}

const UNSAFE = { "~unsafe": null, [Symbol.for("TypeBox.Kind")]: "Unsafe" };
const OPTIONAL = { "~optional": true, [Symbol.for("TypeBox.Optional")]: "Optional" };

/** One of the given texts, as a flat `enum`: some models do not read `anyOf`. */
export function stringEnum<T extends readonly string[]>(values: T, options: StringEnumOptions<T> = {}): TUnsafe<T[number]> {
  return marked({ type: "string", enum: [...values], ...options }, UNSAFE) as TUnsafe<T[number]>;
}

/** The same for a key that may be missing. */
export function optionalStringEnum<T extends readonly string[]>(values: T, options: StringEnumOptions<T> = {}): TOptional<TUnsafe<T[number]>> {
  return marked(stringEnum(values, options), OPTIONAL) as TOptional<TUnsafe<T[number]>>;
}
