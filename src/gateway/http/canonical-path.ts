/** What a request target names, or why it is refused. */
export type CanonicalTarget =
  | { readonly ok: true; readonly path: string; readonly query: URLSearchParams }
  | { readonly ok: false; readonly status: 400 | 414; readonly reason: string };

/** Longest request target in characters, query included. */
export const MAX_TARGET_LENGTH = 8192;

/** What a client may send unescaped: visible ASCII without the characters that URL parsers disagree about. */
const RAW_PATH = /^\/[A-Za-z0-9\-._~!$&'()*+,;=:@%/]*$/;
const ENCODED_DELIMITER = /%(?:2f|5c|00|3f|23)/i;
// eslint-disable-next-line no-control-regex -- control characters are what it looks for
const UNSAFE = /[\\\u0000-\u001f\u007f-\u009f?#\u2028\u2029\ufeff]/;
const STILL_ENCODED = /%[0-9a-f]{2}/i;

const refuse = (reason: string, status: 400 | 414 = 400): CanonicalTarget => ({ ok: false, status, reason });

function decodeOnce(raw: string): string | undefined {
  try {
    return decodeURIComponent(raw);
  } catch {
    return undefined;
  }
}

/** Why a decoded path could be read as another one further down. */
function ambiguity(path: string): string | undefined {
  if (UNSAFE.test(path)) return "it contains a control character or a delimiter";
  if (STILL_ENCODED.test(path)) return "it is encoded twice";
  const segments = path.split("/").slice(1);
  if (segments.some((segment) => segment === "." || segment === "..")) return "it contains a dot segment";
  if (segments.slice(0, -1).includes("")) return "it contains an empty segment";
  return undefined;
}

/**
 * The one reading of a request target, for the guard, the router and the handlers. It decodes percent escapes once and refuses whatever
 * has a second reading: dot segments, escaped or doubled slashes, backslashes, NUL, double encoding, absolute URLs.
 */
export function canonicalTarget(target: string): CanonicalTarget {
  if (target.length > MAX_TARGET_LENGTH) return refuse(`the URL is longer than ${MAX_TARGET_LENGTH} characters`, 414);
  const mark = target.indexOf("?");
  const raw = mark < 0 ? target : target.slice(0, mark);
  if (!RAW_PATH.test(raw)) return refuse("the path must start with / and escape everything but plain URL characters");
  if (ENCODED_DELIMITER.test(raw)) return refuse("the path escapes a delimiter");
  const path = decodeOnce(raw);
  if (path === undefined) return refuse("the path is not valid UTF-8 in percent escapes");
  const reason = ambiguity(path) ?? lookalike(path);
  if (reason !== undefined) return refuse(`the path is ambiguous: ${reason}`);
  return { ok: true, path, query: new URLSearchParams(mark < 0 ? "" : target.slice(mark + 1)) };
}

/** Full-width slashes, one-dot leaders and their kind become delimiters when the text is normalised later. */
function lookalike(path: string): string | undefined {
  const folded = path.normalize("NFKC");
  if (folded === path) return undefined;
  const count = (text: string): number => text.split("/").length;
  return (count(folded) === count(path) ? undefined : "a character becomes a slash when normalised") ?? ambiguity(folded);
}
