/** Replaces a secret. */
export const SECRET_MASK = "***";

/** Shorter values are not searched for: they would match by chance. */
const LEAST_CHARS = 8;
/** A longer value counts as a secret whatever it looks like. */
const CERTAIN_CHARS = 20;
/** Minimum length for lines of a multi-line secret (a private key) that are searched for by themselves. */
const LEAST_LINE_CHARS = 24;
const TABLE_SIZE = 1 << 14;

/** Finds all known secrets in a text in one pass; the time depends on the length of the text, hardly on the number of secrets. */
export interface SecretSearch {
  /** Adds a secret, also as base64, hexadecimal, in a URL and in JSON. Values that anybody could write by chance are ignored. */
  add(secret: string): void;
  /** The text with all secrets masked; the same text when it has none. */
  mask(text: string): string;
  /** For text that arrives in chunks: finds secrets across them. */
  stream(): SecretStream;
}

export interface SecretStream {
  /** The text that can be shown by now: an end that could be the start of a secret waits for the next chunk. */
  push(piece: string): string;
  /** The text that was held back. */
  end(): string;
}

/** Whether a value is unusual enough to be hidden wherever it appears. Words, numbers, paths and plain addresses are not. */
export function isUnmistakable(value: string): boolean {
  if (value.length < LEAST_CHARS || /^(.)\1*$/s.test(value)) return false;
  if (/^[~./\\]|^[A-Za-z]:[\\/]/.test(value) && !value.includes("\n")) return false;
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(value))
    return /:\/\/[^/@\s]+:[^/@\s]+@/.test(value) || /[A-Za-z0-9_-]{20,}/.test(value.replace(/^[a-z]+:\/\/[^/]*/i, ""));
  if (value.length >= CERTAIN_CHARS && !/\s/.test(value)) return true;
  const kinds = [/[a-z]/, /[A-Z]/, /[0-9]/, /[^A-Za-z0-9\s._/-]/].filter((kind) => kind.test(value)).length;
  if (/^[\d\s.,:+-]+$/.test(value)) return value.length >= CERTAIN_CHARS;
  return kinds >= 2 && !/^[A-Z]?[a-z]+$/.test(value);
}

/** The forms of a secret that a program may print. */
function formsOf(secret: string): readonly string[] {
  const bytes = Buffer.from(secret, "utf8");
  // Depending on its offset, the middle of its base64 is one of three.
  const encoded = [0, 1, 2].map((shift) => {
    const text = Buffer.concat([Buffer.alloc(shift), bytes])
      .toString("base64")
      .replace(/=+$/, "");
    return text.slice(Math.ceil((shift * 8) / 6), bytes.length + shift === 0 ? 0 : text.length - ((bytes.length + shift) % 3 === 0 ? 0 : 1));
  });
  const url = encoded.map((text) => text.replaceAll("+", "-").replaceAll("/", "_"));
  const lines = secret.includes("\n") ? secret.split(/\r?\n/).filter((line) => line.length >= LEAST_LINE_CHARS && !line.startsWith("-----")) : [];
  const hex = bytes.toString("hex");
  const wrapped = secret.includes("\n") ? [] : [...encoded, ...url].filter((text) => text.length >= LEAST_CHARS);
  return [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1), ...wrapped, hex, hex.toUpperCase(), ...lines].filter(
    (form) => form.length >= LEAST_CHARS,
  );
}

const hashOf = (one: number, other: number): number => ((one << 5) ^ other) & (TABLE_SIZE - 1);

interface Tables {
  /** How far the search may skip, by the two characters at its end. */
  readonly shifts: Uint8Array;
  /** Forms by the hash of the characters at the end of their prefix, longest first. */
  readonly buckets: ReadonlyMap<number, readonly string[]>;
  readonly longest: number;
  /** Forms by their first character. */
  readonly byFirst: ReadonlyMap<number, readonly string[]>;
}

/** The tables of Wu and Manber's search, over the common prefix length of all forms. */
function tablesOf(forms: ReadonlySet<string>): Tables {
  const shifts = new Uint8Array(TABLE_SIZE).fill(LEAST_CHARS - 1);
  const buckets = new Map<number, string[]>();
  const byFirst = new Map<number, string[]>();
  let longest = 0;
  for (const form of [...forms].sort((a, b) => b.length - a.length)) {
    for (let at = 1; at < LEAST_CHARS; at += 1) {
      const hash = hashOf(form.charCodeAt(at - 1), form.charCodeAt(at));
      shifts[hash] = Math.min(shifts[hash] ?? 0, LEAST_CHARS - 1 - at);
    }
    const last = hashOf(form.charCodeAt(LEAST_CHARS - 2), form.charCodeAt(LEAST_CHARS - 1));
    buckets.set(last, [...(buckets.get(last) ?? []), form]);
    byFirst.set(form.charCodeAt(0), [...(byFirst.get(form.charCodeAt(0)) ?? []), form]);
    longest = Math.max(longest, form.length);
  }
  return { shifts, buckets, longest, byFirst };
}

type Range = readonly [start: number, end: number];

/** Ranges of secrets, in order; of those that start at the same position, the longest. */
function rangesIn({ shifts, buckets }: Tables, text: string): readonly Range[] {
  const ranges: Range[] = [];
  for (let at = LEAST_CHARS - 1; at < text.length;) {
    const hash = hashOf(text.charCodeAt(at - 1), text.charCodeAt(at));
    const shift = shifts[hash] ?? 0;
    if (shift > 0) {
      at += shift;
      continue;
    }
    const start = at - LEAST_CHARS + 1;
    const found = buckets.get(hash)?.find((form) => text.startsWith(form, start));
    if (found !== undefined) ranges.push([start, start + found.length]);
    at += found === undefined ? 1 : found.length;
  }
  return ranges;
}

function maskWith(tables: Tables, text: string): string {
  const ranges = rangesIn(tables, text);
  if (ranges.length === 0) return text;
  let [out, done] = ["", 0];
  for (const [start, end] of ranges) [out, done] = [out + text.slice(done, start) + SECRET_MASK, end];
  return out + text.slice(done);
}

/** Start of a tail that could become a secret. */
function openEnd({ longest, byFirst }: Tables, text: string, from: number): number {
  for (let at = Math.max(from, text.length - longest + 1); at < text.length; at += 1) {
    const forms = byFirst.get(text.charCodeAt(at));
    if (!forms) continue;
    const rest = text.slice(at);
    if (forms.some((form) => form.length > rest.length && form.startsWith(rest))) return at;
  }
  return text.length;
}

/** The same, but never inside a complete secret. */
function safeEnd(tables: Tables, text: string): number {
  let end = openEnd(tables, text, 0);
  if (end === text.length) return end;
  for (const [start, stop] of rangesIn(tables, text)) if (start < end && end < stop) end = openEnd(tables, text, stop);
  return end;
}

export function createSecretSearch(): SecretSearch {
  const forms = new Set<string>();
  let tables: Tables | undefined;
  const current = (): Tables => (tables ??= tablesOf(forms));
  return {
    add(secret) {
      if (forms.has(secret) || !isUnmistakable(secret)) return;
      for (const form of formsOf(secret)) forms.add(form);
      tables = undefined;
    },
    mask: (text) => (forms.size === 0 || text.length < LEAST_CHARS ? text : maskWith(current(), text)),
    stream() {
      let held = "";
      return {
        push(piece) {
          if (forms.size === 0) return piece;
          const text = held + piece;
          const end = safeEnd(current(), text);
          held = text.slice(end);
          return maskWith(current(), text.slice(0, end));
        },
        end() {
          const rest = forms.size === 0 ? held : maskWith(current(), held);
          held = "";
          return rest;
        },
      };
    },
  };
}

/** A copy of a value with each text masked; the value itself when nothing was. Cycles and extreme depths are left as they are. */
export function maskValue<T>(value: T, mask: (text: string) => string, depth = 0): T {
  if (typeof value === "string") return mask(value) as T & string;
  if (typeof value !== "object" || value === null || depth > 32) return value;
  if (Array.isArray(value)) {
    const masked = value.map((item: unknown) => maskValue(item, mask, depth + 1));
    return masked.some((item, index) => item !== value[index]) ? (masked as T) : value;
  }
  if (Object.getPrototypeOf(value) !== Object.prototype && Object.getPrototypeOf(value) !== null) return value;
  let changed = false;
  const masked = Object.fromEntries(
    Object.entries(value).map(([key, item]: [string, unknown]) => {
      const [name, next] = [mask(key), maskValue(item, mask, depth + 1)];
      changed ||= name !== key || next !== item;
      return [name, next];
    }),
  );
  return changed ? (masked as T) : value;
}
