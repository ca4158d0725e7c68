/** Edit distance with transpositions, cut off above `limit`. */
function distance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
  let before: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const same = a[i - 1] === b[j - 1];
      let best = Math.min(previous[j]! + 1, row[j - 1]! + 1, previous[j - 1]! + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) best = Math.min(best, before[j - 2]! + 1);
      row.push(best);
    }
    before = previous;
    previous = row;
  }
  return previous[b.length]!;
}

/** The candidate that `word` was most likely meant to be, or undefined when none is close. */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  const wanted = word.toLowerCase();
  const limit = Math.max(1, Math.floor(wanted.length / 3));
  let best: string | undefined;
  let bestDistance = limit + 1;
  for (const candidate of candidates) {
    const d = distance(wanted, candidate.toLowerCase(), limit);
    if (d < bestDistance) [best, bestDistance] = [candidate, d];
  }
  return best;
}

const SIZE_UNITS = ["B", "KB", "MB", "GB", "TB"];

/** `1536` → `1.5 KB`; units of 1024. */
export function formatBytes(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < SIZE_UNITS.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1).replace(/\.0$/, "")} ${SIZE_UNITS[unit]}`;
}

/** `90061000` → `1d 1h`; the two largest units. */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))}ms`;
  const seconds = Math.floor(ms / 1000);
  const parts = [
    [Math.floor(seconds / 86_400), "d"],
    [Math.floor(seconds / 3600) % 24, "h"],
    [Math.floor(seconds / 60) % 60, "m"],
    [seconds % 60, "s"],
  ] as const;
  const shown = parts.filter(([value]) => value > 0).slice(0, 2);
  return shown.map(([value, unit]) => `${value}${unit}`).join(" ") || "0s";
}

/** Cuts `text` to `max` characters, never inside a surrogate pair, and marks the cut. */
export function clip(text: string, max: number): string {
  if (text.length <= max) return text;
  const end = /[\uD800-\uDBFF]/.test(text[max - 1] ?? "") ? max - 1 : max;
  return `${text.slice(0, end)}…`;
}

/**
 * Quotes foreign text as one word of a command line that a person pastes into a shell. Undefined when no quoting makes it safe or readable: it would
 * be
 * an option, or has invisible characters.
 */
export function shellWord(text: string): string | undefined {
  if (text === "" || text.startsWith("-") || /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(text)) return undefined;
  return /^[\w@.+:=/-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Quotes a word for a POSIX shell, whatever it contains. */
export const shellQuote = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;
