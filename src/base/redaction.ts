import { createSecretSearch, type SecretStream } from "./secret-search.ts";
import { isRecord } from "./records.ts";

/**
 * Keeps secrets out of everything that is printed or stored: by key (a field called `token`), by value (a secret that was registered
 * when it was resolved) and by shape (a bearer header, a well-known key prefix).
 */
export interface Redactor {
  /** From now on this text is masked wherever it appears. Texts under 6 characters are ignored: masking them would hide ordinary words. */
  register(secret: string): void;
  /** From now on what these patterns find is masked, and nothing that earlier ones found: `text`, or `/text/flags`. Returns those that are no pattern. */
  patterns(written: readonly string[]): readonly string[];
  /** The text with every known secret masked. */
  text(value: string): string;
  /** Masks registered secrets only: for text that agents work with, where anything that merely looks like a secret has to stay. */
  secrets(value: string): string;
  /** The same for text that arrives in chunks. */
  stream(): SecretStream;
  /** A copy that is safe to print: secret fields and texts masked, cycles cut, depth bounded. */
  value(value: unknown): unknown;
}

const MASK = "***";
const MINIMUM_SECRET = 6;
const MAX_DEPTH = 8;
const SECRET_KEY = /(?:token|password|passphrase|secret|api[-_]?key|authorization|cookie|private[-_]?key|credential|signature)s?$/i;
/** Fields whose names end like a secret's but hold a count. */
const NOT_SECRET_KEY = /(?:max|input|output|total|context|reserve|cache(?:read|write)?|count|limit|budget)[-_]?tokens?$|tokens?(?:count|limit|budget|fresh)$/i;
/** Shapes of secrets that may appear in text from elsewhere. */
const SHAPES: readonly RegExp[] = [
  /\b(?:Bearer|Basic)\s+[A-Za-z0-9+/=._~-]{12,}/g,
  /\b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}/g,
  /\b(?:ghp|gho|ghs|ghu|github_pat|glpat|npm|hf|gsk|xai|pplx|AIza)[_-]?[A-Za-z0-9_-]{20,}/g,
  /\bxox[abprs]-[A-Za-z0-9-]{10,}/g,
  // Also inside a URL, right after `bot`.
  /(?<!\d)\d{8,10}:[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])/g,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
];

/** First 6 and last 4 characters of a long secret, enough to distinguish two; nothing of a short one. */
export function maskSecret(secret: string): string {
  return secret.length < 18 ? MASK : `${secret.slice(0, 6)}…${secret.slice(-4)}`;
}

export function isSecretKey(key: string): boolean {
  return SECRET_KEY.test(key) && !NOT_SECRET_KEY.test(key);
}

/** `/text/flags`, or a text that is searched for whatever its case. */
function patternOf(written: string): RegExp | undefined {
  const [, source, flags = ""] = /^\/(.+)\/([a-z]*)$/.exec(written) ?? [];
  try {
    return source === undefined ? new RegExp(written, "gi") : new RegExp(source, flags.includes("g") ? flags : `${flags}g`);
  } catch {
    return undefined;
  }
}

export function createRedactor(): Redactor {
  // Longest first, so that a secret that contains another is masked whole.
  const secrets: string[] = [];
  const search = createSecretSearch();
  let own: readonly RegExp[] = [];

  function text(value: string): string {
    let out = search.mask(value);
    for (const secret of secrets) if (out.includes(secret)) out = out.replaceAll(secret, MASK);
    for (const shape of SHAPES) out = out.replace(shape, maskSecret);
    for (const pattern of own) out = out.replace(pattern, (found) => (found === "" ? "" : maskSecret(found)));
    return out;
  }

  function copy(value: unknown, depth: number, above: readonly object[]): unknown {
    if (typeof value === "string") return text(value);
    if (typeof value === "bigint") return String(value);
    if (typeof value !== "object" || value === null) return typeof value === "function" || typeof value === "symbol" ? `[${typeof value}]` : value;
    if (above.includes(value)) return "[circular]";
    if (depth >= MAX_DEPTH) return "[…]";
    const path = [...above, value];
    if (value instanceof Error) return copyError(value, depth, path);
    if (value instanceof Date) return value.toJSON();
    if (Array.isArray(value)) return value.map((item) => copy(item, depth + 1, path));
    if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
    const out: Record<string, unknown> = {};
    for (const [key, item] of Object.entries(value)) {
      out[key] = isSecretKey(key) && typeof item === "string" ? maskSecret(item) : copy(item, depth + 1, path);
    }
    return out;
  }

  function copyError(error: Error, depth: number, path: readonly object[]): unknown {
    const { name, message, stack, cause } = error;
    const own = copy(Object.fromEntries(Object.entries(error)), depth, path);
    return {
      ...(isRecord(own) ? own : {}),
      name,
      message: text(message),
      ...(stack ? { stack: text(stack) } : {}),
      ...(cause === undefined ? {} : { cause: copy(cause, depth + 1, path) }),
    };
  }

  return {
    register(given) {
      // In a header, the secret follows the name of the scheme.
      const secret = given.trim().replace(/^(?:Bearer|Basic|Token)\s+(?=\S+$)/i, "");
      if (secret.length < MINIMUM_SECRET || secrets.includes(secret)) return;
      search.add(secret);
      secrets.push(secret);
      secrets.sort((a, b) => b.length - a.length);
    },
    patterns(written) {
      const made = written.map((text) => ({ text, pattern: patternOf(text) }));
      own = made.flatMap(({ pattern }) => pattern ?? []);
      return made.filter(({ pattern }) => pattern === undefined).map(({ text }) => text);
    },
    text,
    secrets: search.mask,
    stream: search.stream,
    value: (value) => copy(value, 0, []),
  };
}
