import { dirname } from "node:path";
import { matchingEntry, type AllowEntry, type PathRules } from "./allowlist.ts";
import { isHarmless } from "./environment.ts";
import { isCarrier } from "../executables.ts";
import { ownEnvironment, type ExecPlan, type PlannedSegment } from "./plan.ts";
import { readingShape } from "./remember/readers.ts";
import { reachesSealed, type SealedFiles } from "./reach.ts";
import type { ExecAsk, ExecSecurity } from "./settings.ts";
import { covers } from "./remember/rule.ts";
import type { StoredRule } from "./remember/remembered.ts";
import { isSafeBin, TRUSTED_FOLDERS } from "./safe-bins.ts";

export interface JudgeRules extends PathRules {
  readonly security: ExecSecurity;
  readonly ask: ExecAsk;
  readonly allowlist: readonly AllowEntry[];
  /** What "allow always" stored for this agent. */
  readonly remembered?: readonly StoredRule[];
  readonly safeBins?: readonly string[];
  /** Files of programs that skills ask for, where the operator lets those run unasked. */
  readonly skillPrograms?: ReadonlySet<string> | undefined;
  /** Files that no tool may read: a command that names one is asked about, whatever list its program is on. */
  readonly sealed?: SealedFiles | undefined;
}

/** What covers a plan: entries of the allowlist, and what "allow always" stored. */
export interface Coverage {
  readonly entries: readonly AllowEntry[];
  readonly remembered: readonly StoredRule[];
}

/** Whether a plan may run as it is, and what covered it. */
export type ExecVerdict =
  | ({ readonly kind: "run" } & Coverage)
  | { readonly kind: "ask"; readonly satisfied: boolean }
  | { readonly kind: "deny"; readonly text: string };

export function judgePlan(plan: ExecPlan, rules: JudgeRules): ExecVerdict {
  if (rules.security === "deny") return { kind: "deny", text: `exec denied: host=${plan.host} security=deny` };
  const coverage = rules.security === "allowlist" || rules.ask === "always" ? coverageOf(plan, rules) : undefined;
  if (rules.ask === "always") return { kind: "ask", satisfied: coverage !== undefined };
  if (rules.security === "full") return { kind: "run", entries: [], remembered: [] };
  if (coverage) return { kind: "run", ...coverage };
  return rules.ask === "on-miss" ? { kind: "ask", satisfied: false } : { kind: "deny", text: "exec denied: allowlist miss" };
}

/**
 * What covers every segment, together with the safe programs; undefined when one segment is not covered. In a terminal nothing is: what
 * is typed into it later (`!` in a pager, a command of an editor) no list has seen.
 */
function coverageOf(plan: ExecPlan, rules: JudgeRules): Coverage | undefined {
  if (!plan.analysable || plan.pty === true || !isHarmless(ownEnvironment(plan))) return undefined;
  if (rules.sealed && reachesSealed(plan, rules.sealed)) return undefined;
  const entries = new Set<AllowEntry>();
  const remembered = new Set<StoredRule>();
  for (const segment of plan.segments) {
    const cover = coverOf(segment, plan, rules);
    if (!cover) return undefined;
    if (cover.kind === "entry") entries.add(cover.entry);
    if (cover.kind === "remembered") remembered.add(cover.rule);
  }
  return [...remembered].some((rule) => mayBeRewritten(rule, plan)) ? undefined : { entries: [...entries], remembered: [...remembered] };
}

/** What lets one program of a command line run unasked. */
export type Cover =
  | { readonly kind: "entry"; readonly entry: AllowEntry }
  | { readonly kind: "skill" }
  | { readonly kind: "safe" }
  | { readonly kind: "remembered"; readonly rule: StoredRule };

/** Undefined when nothing covers it. */
export function coverOf(segment: PlannedSegment, plan: ExecPlan, rules: JudgeRules): Cover | undefined {
  const entry = matchingEntry(segment, rules.allowlist, rules);
  if (entry) return { kind: "entry", entry };
  if (isSkillProgram(segment, rules)) return { kind: "skill" };
  if (isSafeBin(segment, rules.safeBins)) return { kind: "safe" };
  const rule = rules.remembered?.find((one) => covers(one, segment, plan));
  return rule && { kind: "remembered", rule };
}

/** Another program of the same line could rewrite a script between the check and its turn. */
function mayBeRewritten({ program, rule }: StoredRule, { segments }: ExecPlan): boolean {
  if (rule.files.every(({ path }) => TRUSTED_FOLDERS.has(dirname(path)))) return false;
  return segments.some(({ executable, argv }) => executable !== program && (executable === null || !readingShape(executable, argv.slice(1))));
}

/** By the file that will run. Shells, interpreters and wrappers would be everything: a skill that asks for one has not earned that. */
function isSkillProgram({ executable }: PlannedSegment, { skillPrograms }: JudgeRules): boolean {
  return executable !== null && (skillPrograms?.has(executable) ?? false) && !isCarrier(executable);
}
