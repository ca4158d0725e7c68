/** What stands in the place of a text that its owner had removed. */
export const ERASED = "[removed]";

const folded = (text: string): string => text.normalize("NFC").toLowerCase().replace(/\s+/g, " ");

/** Decides whether a text contains one of some others, in any case and spacing. */
export type TextMatcher = (text: string) => boolean;

export function createTextMatcher(texts: readonly string[]): TextMatcher {
  // JSON that is kept as text, such as arguments of a call, has quotes and line ends in their escaped form.
  const forms = texts.flatMap((text) => [folded(text).trim(), folded(JSON.stringify(text).slice(1, -1)).trim()]);
  const needles = [...new Set(forms)].filter((needle) => needle !== "");
  return (text) => {
    const plain = folded(text);
    return needles.some((needle) => plain.includes(needle));
  };
}

/** A value with every text that matches replaced as a whole. The same value when nothing matches. */
export function eraseTexts(value: unknown, matches: TextMatcher): unknown {
  if (typeof value === "string") return matches(value) ? ERASED : value;
  if (Array.isArray(value)) {
    const items = value.map((item) => eraseTexts(item, matches));
    return items.some((item, index) => item !== value[index]) ? items : value;
  }
  if (value === null || typeof value !== "object") return value;
  let changed = false;
  const fields: [string, unknown][] = [];
  for (const [key, field] of Object.entries(value)) {
    const erased = eraseTexts(field, matches);
    // A key is text, too: a map from names to values.
    const name = matches(key) ? ERASED : key;
    changed ||= erased !== field || name !== key;
    fields.push([name, erased]);
  }
  return changed ? Object.fromEntries(fields) : value;
}

/** JSON with every text that matches replaced. Text that is no JSON is replaced as a whole. Undefined when nothing matches. */
export function eraseInJson(json: string, matches: TextMatcher): string | undefined {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return matches(json) ? JSON.stringify(ERASED) : undefined;
  }
  const erased = eraseTexts(value, matches);
  return erased === value ? undefined : JSON.stringify(erased);
}
