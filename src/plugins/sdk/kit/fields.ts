/** Reads values from outside. One without the expected type counts as missing. */
export type Fields = Readonly<Record<string, unknown>>;

export function fieldsOf(value: unknown): Fields | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The objects in a list. */
export function recordsOf(value: unknown): Fields[] {
  return listOf(value)
    .map(fieldsOf)
    .filter((entry) => entry !== undefined);
}

/** A text with something in it. */
export function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** A text with something in it, without blanks around it. */
export function trimmedOf(value: unknown): string | undefined {
  return typeof value === "string" ? value.trim() || undefined : undefined;
}

/** The texts in a list. */
export function textsOf(value: unknown): string[] {
  return listOf(value).filter((entry) => typeof entry === "string");
}

export function numberOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

/** A whole number that JavaScript holds exactly. */
export function wholeOf(value: unknown): number | undefined {
  return Number.isSafeInteger(value) ? (value as number) : undefined;
}

export function flagOf(value: unknown): boolean | undefined {
  return typeof value === "boolean" ? value : undefined;
}

export function choiceOf<T extends string>(value: unknown, choices: readonly T[], otherwise: T): T {
  return choices.find((choice) => choice === value) ?? otherwise;
}

/** Entries of an allow list, trimmed. */
export function entriesOf(value: unknown): string[] {
  return listOf(value).flatMap((entry) => (typeof entry === "string" || typeof entry === "number" ? String(entry).trim() || [] : []));
}

/** Only the keys that have a value. */
export function defined<T extends object>(object: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  const copy = { ...object };
  for (const key in copy) if (copy[key] === undefined) delete copy[key];
  return copy as { [K in keyof T]: Exclude<T[K], undefined> };
}

/** The JSON in a text; undefined where it is none. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
