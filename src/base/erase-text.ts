/** What stands in the place of a text that its owner had removed. */
export const ERASED = "[removed]";

const folded = (text: string): string => text.normalize("NFC").toLowerCase().replace(/\s+/g, " ");

/** Fewer characters of a text without its backslashes would match nearly everything. */
const LEAST_LOOSE = 3;

/** Without the escapes of JSON, however often it was escaped. */
const unescaped = (text: string): string =>
  text
    .replace(/\\+u([0-9a-f]{4})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    .replace(/\\+[nrt]/g, " ")
    .replaceAll("\\", "");

/** Decides whether a text contains one of some others, in any case and spacing, also where JSON escaped it. */
export type TextMatcher = (text: string) => boolean;

const distinct = (texts: readonly string[]): readonly string[] => [...new Set(texts.map((text) => folded(text).trim()))].filter((text) => text !== "");

export function createTextMatcher(texts: readonly string[]): TextMatcher {
  const needles = distinct(texts);
  // JSON that is kept as text, such as arguments of a call or a result that an answer repeats, has quotes and line ends in their escaped form.
  const escaped = distinct(texts.map((text) => JSON.stringify(text).slice(1, -1)));
  const loose = distinct(texts.map(unescaped)).filter((text) => text.replaceAll(" ", "").length >= LEAST_LOOSE);
  return (text) => {
    const plain = folded(text);
    if (needles.some((needle) => plain.includes(needle))) return true;
    if (!text.includes("\\")) return false;
    if (escaped.some((needle) => plain.includes(needle))) return true;
    const bare = folded(unescaped(text));
    return loose.some((needle) => bare.includes(needle));
  };
}

/** First and last position of lines that together contain a text. */
type Span = readonly [first: number, last: number];

/** Finds the lines that contain one of some texts, also one that goes on in the next lines, quoted or indented. */
export function createSpanFinder(texts: readonly string[]): (lines: readonly string[]) => readonly Span[] {
  const matches = createTextMatcher(texts);
  const needles = distinct(texts).filter((needle) => needle.includes(" "));
  return (lines) => {
    const single = lines.flatMap((line, index): Span[] => (matches(line) ? [[index, index]] : []));
    return joined([...single, ...wrapped(lines, needles)]);
  };
}

/** Where texts stand in lines that are read as one. */
function wrapped(lines: readonly string[], needles: readonly string[]): readonly Span[] {
  const starts: { readonly at: number; readonly line: number }[] = [];
  const parts: string[] = [];
  let length = 0;
  for (const [line, text] of lines.entries()) {
    const part = folded(text.replace(/^[\s>]+/, "")).trim();
    if (part === "") continue;
    starts.push({ at: length, line });
    parts.push(part);
    length += part.length + 1;
  }
  const whole = parts.join(" ");
  const spans: Span[] = [];
  for (const needle of needles) {
    let index = 0;
    for (let at = whole.indexOf(needle); at !== -1; at = whole.indexOf(needle, at + 1)) {
      while ((starts[index + 1]?.at ?? Infinity) <= at) index += 1;
      let end = index;
      while ((starts[end + 1]?.at ?? Infinity) < at + needle.length) end += 1;
      spans.push([starts[index]?.line ?? 0, starts[end]?.line ?? 0]);
    }
  }
  return spans;
}

/** In order; those that share a line become one. */
function joined(spans: readonly Span[]): readonly Span[] {
  const result: Span[] = [];
  for (const [first, last] of spans.toSorted((a, b) => a[0] - b[0] || a[1] - b[1])) {
    const before = result.at(-1);
    if (before && first <= before[1]) result[result.length - 1] = [before[0], Math.max(before[1], last)];
    else result.push([first, last]);
  }
  return result;
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
