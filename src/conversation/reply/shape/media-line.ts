/** `MEDIA:` lines: files and addresses that an answer wants to be sent. */
import { resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";

const MAX_PLACE_CHARS = 4096;
const WRAPPED = /^(["'`])(.*)\1$/s;
const LEADING = /^[`"'[({<]+/;
const LOCAL = /^(?:\/|~|\.{1,2}(?:[/\\]|$)|\\\\|file:|[A-Za-z]:[/\\])/;

/** What one line gave. */
export interface MediaLine {
  readonly media: readonly string[];
  /** What stays in the text; undefined takes the whole line away. */
  readonly rest: string | undefined;
}

const trailingFrom = (word: string): number => {
  let end = word.length;
  while (end > 0 && "`\"'])}>,;".includes(word[end - 1]!)) end -= 1;
  return end;
};

const unwrapped = (word: string): string => word.slice(0, trailingFrom(word)).replace(LEADING, "");

/** The place below one of the folders that a local path names; relative ones begin at the first folder. */
function localPath(path: string, roots: readonly string[]): string | undefined {
  const [first] = roots;
  if (first === undefined || path.includes("\0") || path.startsWith("~")) return undefined;
  const full = resolve(first, path);
  return roots.some((root) => full.startsWith(root.endsWith(sep) ? root : root + sep) && full.length > root.length + 1) ? full : undefined;
}

function fileOf(url: string): string | undefined {
  try {
    return fileURLToPath(url);
  } catch {
    return undefined;
  }
}

/** The address or path that is sent, if it may be. */
function placeOf(place: string, roots: readonly string[]): string | undefined {
  if (place === "" || place.length > MAX_PLACE_CHARS) return undefined;
  if (/^https?:\/\//i.test(place)) return !/\s/.test(place) && URL.canParse(place) ? place : undefined;
  if (!LOCAL.test(place)) return undefined;
  const path = /^file:/i.test(place) ? fileOf(place) : place;
  return path === undefined ? undefined : localPath(path, roots);
}

/** What follows `MEDIA:` on its line. `roots` are absolute. */
export function parseMediaLine(line: string, roots: readonly string[]): MediaLine {
  const said = line.slice(line.indexOf(":") + 1).trim();
  const whole = WRAPPED.exec(said)?.[2]?.trim();
  const words = whole === undefined ? said.split(/\s+/) : [whole];
  const media: string[] = [];
  const others: string[] = [];
  for (const word of words) {
    const place = placeOf(unwrapped(word), roots);
    if (place === undefined) others.push(word);
    else media.push(place);
  }
  if (media.length > 0 && others.length === 0) return { media, rest: undefined };
  // A path with blanks in it looks like several words.
  const spaced = LOCAL.test(unwrapped(said)) ? placeOf(unwrapped(said), roots) : undefined;
  if (spaced !== undefined && words.slice(1).every((word) => !LOCAL.test(word) && !/^https?:/i.test(word))) return { media: [spaced], rest: undefined };
  if (media.length > 0) return { media, rest: others.filter((word) => !LOCAL.test(unwrapped(word))).join(" ") || undefined };
  return { media, rest: LOCAL.test(unwrapped(said)) ? undefined : line };
}
