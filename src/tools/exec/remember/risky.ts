import { existsSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import { matchesPath } from "../allowlist.ts";
import type { ExecRulesFile } from "../rules-file.ts";
import { knownRunners, runnerOf, type RunnerKind } from "./runners.ts";

/** An entry that a user wrote and that lets more run than it seems to. */
export interface RiskyEntry {
  /** Agent id, or `*` for every agent; `tools.exec.safeBins` for a name of that list. */
  readonly scope: string;
  readonly pattern: string;
  /** Programs that it covers and that can start others; at most five. */
  readonly programs: readonly string[];
  readonly kind: RunnerKind;
  /** What is wrong with it, as a sentence for the user. */
  readonly reason: string;
}

export interface RiskyInput {
  readonly file: Pick<ExecRulesFile, "agents">;
  /** `tools.exec.safeBins`, of all agents together. */
  readonly safeBins?: readonly string[];
  /** PATH, for what patterns with wildcards cover. */
  readonly path: string;
  readonly home: string;
}

const MOST_NAMED = 5;
const ORDER: readonly RunnerKind[] = ["code", "project", "arguments"];

/**
 * Entries of `exec-approvals.json` and `tools.exec.safeBins` that cover programs which can start others, so that any command can run unasked.
 * They stay valid: the user wrote them. The security audit names them.
 */
export function riskyAllowlistEntries({ file, safeBins = [], path, home }: RiskyInput): readonly RiskyEntry[] {
  const written = Object.entries(file.agents ?? {}).flatMap(([scope, { allowlist = [] }]) => allowlist.map(({ pattern }) => ({ scope, pattern })));
  const folders = path.split(delimiter).filter((folder) => isAbsolute(folder));
  const entries = written.flatMap(
    ({ scope, pattern }) =>
      judge(
        scope,
        pattern.trim().replace(/^~(?=\/|$)/, () => home),
        folders,
      ) ?? [],
  );
  const bins = safeBins.flatMap((name) => {
    const runner = runnerOf(name);
    return runner && name !== "jq" && name !== "sort" ? [entry("tools.exec.safeBins", name, runner.kind, [name], `${name} ${runner.why}`)] : [];
  });
  return [...entries, ...bins];
}

function judge(scope: string, pattern: string, folders: readonly string[]): RiskyEntry | undefined {
  if (!/[/\\~]/.test(pattern)) return undefined;
  if (!/[*?]/.test(pattern)) {
    const runner = runnerOf(pattern);
    return runner && entry(scope, pattern, runner.kind, [pattern], `${nameOf(pattern)} ${runner.why}`);
  }
  // Shells, interpreters and wrappers are covered by no wildcard.
  const candidates = folders.flatMap((folder) => knownRunners().map((name) => join(folder, name)));
  const covered = candidates.filter((file) => matchesPath(pattern, file, false) && existsSync(file) && runnerOf(file)?.kind !== "code");
  if (covered.length === 0) return undefined;
  const kind = ORDER.find((one) => covered.some((file) => runnerOf(file)?.kind === one))!;
  const named = covered.slice(0, MOST_NAMED);
  const more = covered.length > named.length ? ` and ${covered.length - named.length} more` : "";
  return entry(scope, pattern, kind, named, `the wildcard covers programs that can start others: ${named.map(nameOf).join(", ")}${more}`);
}

const nameOf = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

function entry(scope: string, pattern: string, kind: RiskyEntry["kind"], programs: readonly string[], why: string): RiskyEntry {
  return { scope, pattern, kind, programs, reason: `${why}; with this entry any command can run without approval` };
}
