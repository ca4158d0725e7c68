import { resolve } from "node:path";
import { matchingEntry, type AllowEntry, type PathRules } from "./allowlist.ts";
import { isHarmless } from "./environment.ts";
import { isCarrier } from "./executables.ts";
import type { ExecPlan, PlannedSegment } from "./plan.ts";
import { isSafeBin } from "./safe-bins.ts";

/** From strict to free. */
export const SECURITY_LEVELS = ["deny", "allowlist", "full"] as const;
/** From free to strict. */
export const ASK_LEVELS = ["off", "on-miss", "always"] as const;
export type ExecSecurity = (typeof SECURITY_LEVELS)[number];
export type ExecAsk = (typeof ASK_LEVELS)[number];

export function stricterSecurity(a: ExecSecurity, b: ExecSecurity): ExecSecurity {
  return SECURITY_LEVELS[Math.min(SECURITY_LEVELS.indexOf(a), SECURITY_LEVELS.indexOf(b))]!;
}

export function stricterAsk(a: ExecAsk, b: ExecAsk): ExecAsk {
  return ASK_LEVELS[Math.max(ASK_LEVELS.indexOf(a), ASK_LEVELS.indexOf(b))]!;
}

export interface JudgeRules extends PathRules {
  readonly security: ExecSecurity;
  readonly ask: ExecAsk;
  readonly allowlist: readonly AllowEntry[];
  readonly safeBins?: readonly string[];
  /** Files of programs that skills ask for, where the operator lets those run unasked. */
  readonly skillPrograms?: ReadonlySet<string> | undefined;
  /** True for a path that no tool may read: a command that names one is asked about, whatever list its program is on. */
  readonly isSealed?: ((path: string) => boolean) | undefined;
}

/** Whether a plan may run as it is. `entries` are those of the allowlist that covered it. */
export type ExecVerdict =
  | { readonly kind: "run"; readonly entries: readonly AllowEntry[] }
  | { readonly kind: "ask"; readonly satisfied: boolean }
  | { readonly kind: "deny"; readonly text: string };

export function judgePlan(plan: ExecPlan, rules: JudgeRules): ExecVerdict {
  if (rules.security === "deny") return { kind: "deny", text: `exec denied: host=${plan.host} security=deny` };
  const entries = rules.security === "allowlist" || rules.ask === "always" ? coveringEntries(plan, rules) : undefined;
  if (rules.ask === "always") return { kind: "ask", satisfied: entries !== undefined };
  if (rules.security === "full") return { kind: "run", entries: [] };
  if (entries) return { kind: "run", entries };
  return rules.ask === "on-miss" ? { kind: "ask", satisfied: false } : { kind: "deny", text: "exec denied: allowlist miss" };
}

/**
 * Entries that cover every segment, together with the safe programs; undefined when one segment is not covered. In a terminal nothing is: what
 * is typed into it later (`!` in a pager, a command of an editor) no list has seen.
 */
function coveringEntries(plan: ExecPlan, rules: JudgeRules): readonly AllowEntry[] | undefined {
  if (!plan.analysable || plan.pty === true || !isHarmless(ownEnvironment(plan))) return undefined;
  if (rules.isSealed && reachesSealed(plan, rules.isSealed)) return undefined;
  const entries = new Set<AllowEntry>();
  for (const segment of plan.segments) {
    const entry = matchingEntry(segment, rules.allowlist, rules);
    if (entry) entries.add(entry);
    else if (!isSkillProgram(segment, rules) && !isSafeBin(segment, rules.safeBins)) return undefined;
  }
  return [...entries];
}

/** A listed program must not become a way to files that tools do not read. Its folder counts too: names without a slash begin there. */
function reachesSealed({ cwd, segments }: ExecPlan, isSealed: (path: string) => boolean): boolean {
  return isSealed(cwd) || segments.some(({ argv }) => argv.slice(1).some((word) => filesNamed(word).some((name) => isSealed(resolve(cwd, name)))));
}

/** What a program could take for a file in one of its words: the word, what follows `=`, `@` or a short option. */
function filesNamed(word: string): readonly string[] {
  const names = [word, word.slice(word.indexOf("=") + 1), word.replace(/^-[A-Za-z]/, ""), word.replace(/^@/, ""), word.slice(word.indexOf("@") + 1)];
  return [...new Set(names)].filter((name) => name !== "" && name.length < 4096 && !name.includes("\0"));
}

/** By the file that will run. Shells, interpreters and wrappers would be everything: a skill that asks for one has not earned that. */
function isSkillProgram({ executable }: PlannedSegment, { skillPrograms }: JudgeRules): boolean {
  return executable !== null && (skillPrograms?.has(executable) ?? false) && !isCarrier(executable);
}

/** What `always` remembers of a plan: files that do one thing, named without wildcards. */
export function rememberedPaths(plan: ExecPlan): readonly string[] {
  if (!plan.analysable || !isHarmless(ownEnvironment(plan))) return [];
  const paths = plan.segments.flatMap(({ executable }) => (executable === null || isCarrier(executable) || /[*?]/.test(executable) ? [] : [executable]));
  return [...new Set(paths)];
}

/** What the call itself sets: what plugins add was decided by whoever installed them. */
function ownEnvironment({ env, fromPlugins = [] }: ExecPlan): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !fromPlugins.includes(name)));
}
