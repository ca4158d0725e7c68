/** Tells whether a path, written with `/`, is meant. Takes time in proportion to pattern × path at most, whatever they are. */
export type Glob = (path: string) => boolean;

export const MAX_GLOB_CHARS = 1000;
const MAX_ALTERNATIVES = 64;

/**
 * `*` and `?` within a name, `**` across folders, `[a-z]`, `[!a-z]`, `{a,b}`. A pattern without `/` means the name alone, at any depth. Undefined when it
 * is too long or has too many alternatives.
 */
export function parseGlob(pattern: string): Glob | undefined {
  if (pattern.length > MAX_GLOB_CHARS) return undefined;
  const alternatives = expandBraces(pattern.replace(/^(?:\.?\/)+/, ""));
  if (!alternatives) return undefined;
  const matchers = alternatives.map((text) => (text.includes("/") ? pathGlob(text) : nameGlob(text)));
  return (path) => matchers.some((matches) => matches(path));
}

/** Matches the last name of a path. */
export function nameGlob(pattern: string): Glob {
  const matches = segment(pattern);
  return (path) => matches(path.slice(path.lastIndexOf("/") + 1));
}

/** Matches a whole path, folder by folder. `a/**` is what lies in `a`, not `a` itself. */
export function pathGlob(pattern: string): Glob {
  const parts: ("any" | Segment)[] = pattern.split("/").map((part) => (part === "**" ? "any" : segment(part)));
  if (parts.length > 1 && parts.at(-1) === "any") parts.splice(-1, 0, () => true);
  return (path) => wildcard(parts, path.split("/"), (part, name) => part(name));
}

type Segment = (name: string) => boolean;
type Unit = (char: string) => boolean;

/** One name's pattern. */
function segment(pattern: string): Segment {
  if (!/[*?[\\]/.test(pattern)) return (name) => name === pattern;
  const units: ("any" | Unit)[] = [];
  for (let at = 0; at < pattern.length; at += 1) {
    const char = pattern.charAt(at);
    const set = char === "[" ? charSet(pattern, at) : undefined;
    if (char === "*") {
      if (units.at(-1) !== "any") units.push("any");
    } else if (char === "?") units.push(() => true);
    else if (set) {
      units.push(set.unit);
      at = set.end;
    } else {
      const plain = char === "\\" && at + 1 < pattern.length ? pattern.charAt((at += 1)) : char;
      units.push((other) => other === plain);
    }
  }
  return (name) => wildcard(units, name, (unit, other) => unit(other));
}

/** Goes back to the last `any` only: an earlier one never has to be tried again. */
function wildcard<T>(
  pattern: readonly ("any" | T)[],
  text: { readonly length: number; at(index: number): string | undefined },
  fits: (one: T, item: string) => boolean,
): boolean {
  let [at, item, star, mark] = [0, 0, -1, 0];
  while (item < text.length) {
    const one = pattern[at];
    if (one === "any") {
      star = at;
      mark = item;
      at += 1;
    } else if (one !== undefined && fits(one, text.at(item) ?? "")) {
      at += 1;
      item += 1;
    } else if (star !== -1) {
      at = star + 1;
      mark += 1;
      item = mark;
    } else return false;
  }
  while (pattern[at] === "any") at += 1;
  return at === pattern.length;
}

function charSet(pattern: string, start: number): { readonly unit: Unit; readonly end: number } | undefined {
  const negated = pattern[start + 1] === "!" || pattern[start + 1] === "^";
  const first = start + (negated ? 2 : 1);
  const end = pattern.indexOf("]", first + 1);
  if (end === -1) return undefined;
  const ranges: [string, string][] = [];
  for (let at = first; at < end; at += 1) {
    if (pattern[at + 1] === "-" && at + 2 < end) {
      ranges.push([pattern.charAt(at), pattern.charAt(at + 2)]);
      at += 2;
    } else ranges.push([pattern.charAt(at), pattern.charAt(at)]);
  }
  return { unit: (char) => ranges.some(([low, high]) => char >= low && char <= high) !== negated, end };
}

/** `a{b,c}` is `ab` or `ac`, also nested. A brace without its other half stands for itself. */
function expandBraces(pattern: string): readonly string[] | undefined {
  let pending = [pattern];
  const done: string[] = [];
  while (pending.length > 0) {
    if (pending.length + done.length > MAX_ALTERNATIVES) return undefined;
    const next: string[] = [];
    for (const text of pending) {
      const options = splitBrace(text);
      if (options) next.push(...options);
      else done.push(text);
    }
    pending = next;
  }
  return done.length > MAX_ALTERNATIVES ? undefined : done;
}

function splitBrace(text: string): readonly string[] | undefined {
  const open = text.indexOf("{");
  if (open === -1) return undefined;
  const cuts = [open];
  let depth = 0;
  for (let at = open; at < text.length; at += 1) {
    if (text[at] === "{") depth += 1;
    else if (text[at] === "," && depth === 1) cuts.push(at);
    else if (text[at] === "}" && (depth -= 1) === 0) {
      if (cuts.length === 1) return undefined;
      const rest = text.slice(at + 1);
      return cuts.map((cut, index) => text.slice(0, open) + text.slice(cut + 1, cuts[index + 1] ?? at) + rest);
    }
  }
  return undefined;
}
