/** Reading values nobody has checked. */

export type Fields = Readonly<Record<string, unknown>>;

export function fieldsOf(value: unknown): Fields | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}

/** Well-formed Unicode: half a surrogate pair is refused by providers. */
export function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value.toWellFormed() : undefined;
}

export function filledText(value: unknown): string | undefined {
  const text = textOf(value);
  return text === undefined || text.trim() === "" ? undefined : text;
}

export function countOf(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? value : 0;
}

/** Cuts to `max` characters, never inside a surrogate pair. */
export function cut(text: string, max: number): string {
  return text.length <= max ? text : text.slice(0, Math.max(max, 0)).replace(/[\uD800-\uDBFF]$/, "");
}

/** The last `max` characters, never beginning inside a surrogate pair. */
export function cutFront(text: string, max: number): string {
  return text.length <= max ? text : max <= 0 ? "" : text.slice(-max).replace(/^[\uDC00-\uDFFF]/, "");
}
