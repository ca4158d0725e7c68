import { isCarrier } from "../executables.ts";
import type { PlannedSegment } from "./plan.ts";

/** A program that may run without asking. */
export interface AllowEntry {
  readonly id?: string;
  readonly pattern: string;
  readonly lastUsedAt?: number;
  readonly lastUsedCommand?: string;
  readonly lastResolvedPath?: string;
}

export interface PathRules {
  readonly home: string;
  /** File names that differ in case only are the same file. */
  readonly ignoreCase: boolean;
}

/**
 * The entry that covers a segment, by the file that will run. Bare names cover nothing: what a name means depends on PATH.
 * Shells, interpreters and wrappers are covered only by an entry without wildcards, for with a wildcard nobody meant them.
 */
export function matchingEntry(segment: PlannedSegment, allowlist: readonly AllowEntry[], rules: PathRules): AllowEntry | undefined {
  const { executable } = segment;
  if (executable === null) return undefined;
  const exactOnly = isCarrier(executable);
  return allowlist.find(({ pattern }) => {
    const written = pattern.trim();
    if (!/[/\\~]/.test(written) || (exactOnly && /[*?]/.test(written))) return false;
    return matchesPath(
      written.replace(/^~(?=\/|$)/, () => rules.home),
      executable,
      rules.ignoreCase,
    );
  });
}

/** `*` within a folder's name, `**` across folders, `?` one character. Linear in both lengths but for `*`: no pattern is slow. */
export function matchesPath(pattern: string, path: string, ignoreCase: boolean): boolean {
  const [wanted, given] = ignoreCase ? [pattern.toLowerCase(), path.toLowerCase()] : [pattern, path];
  // Reachable positions in the pattern after each character of the path.
  const tokens = wanted.match(/\*{2,}|[^]/g) ?? [];
  let at = closure(tokens, new Set([0]));
  for (const char of given) {
    const next = new Set<number>();
    for (const position of at) {
      const word = tokens[position];
      if (word === undefined) continue;
      if (word.startsWith("*")) {
        if (word.length > 1 || char !== "/") next.add(position);
      } else if (word === "?" ? char !== "/" : word === char) next.add(position + 1);
    }
    at = closure(tokens, next);
  }
  return at.has(tokens.length);
}

/** Stars may also stand for nothing. */
function closure(tokens: readonly string[], positions: ReadonlySet<number>): ReadonlySet<number> {
  const all = new Set(positions);
  for (const position of all) if (tokens[position]?.startsWith("*")) all.add(position + 1);
  return all;
}
