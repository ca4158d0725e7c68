/** Reads values from outside. One without the expected type counts as missing. */
export type Fields = Readonly<Record<string, unknown>>;

export function fieldsOf(value: unknown): Fields | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}

/** A text with something in it, without blanks around it. */
export function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;
}

export function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.flatMap((entry) => textOf(entry) ?? []) : [];
}

export function flagOf(value: unknown): boolean | undefined {
  return typeof value === "boolean" ? value : undefined;
}

export function numberOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}
