import { messageOf } from "../../base/errors.ts";
import type { DoctorDeps } from "./deps.ts";
import type { Check, Finding, Level, Repair, Topic } from "./finding.ts";

/** A finding as it ended. */
export interface Outcome {
  readonly id: string;
  readonly topic: Topic;
  readonly title: string;
  /** `ok` once it is repaired. */
  readonly level: Level;
  readonly text: string;
  readonly todo?: string;
  /** What a repair did. */
  readonly repaired?: string;
  /** What a repair would do that was not made. */
  readonly repair?: { readonly summary: string; readonly safe: boolean; readonly force?: boolean };
}

export interface ExamineOptions {
  readonly checks: readonly Check[];
  /** Told of each check that found something, before anything is repaired. */
  readonly onFound?: (check: Check, findings: readonly Finding[]) => void;
  /** Whether to repair this. */
  readonly decide: (repair: Repair, finding: Finding, check: Check) => boolean | Promise<boolean>;
  /** Told of each repair that was tried. */
  readonly onTried?: (outcome: Outcome) => void;
}

async function look(check: Check, deps: DoctorDeps): Promise<readonly Finding[]> {
  try {
    const findings = await check.run(deps);
    return findings.length > 0 ? findings : [{ level: "ok", text: `${check.title}: well` }];
  } catch (error) {
    return [{ part: "failed", level: "error", text: `${check.title}: the check itself failed: ${messageOf(error)}`, todo: "run openclaw doctor again; if it stays so, report it" }];
  }
}

async function tried(repair: Repair, shown: Omit<Outcome, "repair">): Promise<Outcome> {
  const { todo: _todo, ...rest } = shown;
  try {
    return { ...rest, level: "ok", repaired: await repair.apply() };
  } catch (error) {
    const { summary, safe, force } = repair;
    return { ...shown, text: `${shown.text}; the repair failed: ${messageOf(error)}`, repair: { summary, safe, ...(force ? { force } : {}) } };
  }
}

/** Makes the checks in order. Each sees what the repairs before it did; one that fails is a finding like any other. */
export async function examine(deps: DoctorDeps, { checks, onFound, decide, onTried }: ExamineOptions): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const check of checks) {
    const findings = await look(check, deps);
    onFound?.(check, findings);
    for (const finding of findings) {
      const { part, level, text, todo, repair } = finding;
      const id = part === undefined ? check.id : `${check.id}:${part}`;
      const shown = { id, topic: check.topic, title: check.title, level, text, ...(todo === undefined ? {} : { todo }) };
      if (repair && (await decide(repair, finding, check))) {
        const outcome = await tried(repair, shown);
        onTried?.(outcome);
        outcomes.push(outcome);
      } else outcomes.push(repair ? { ...shown, repair: { summary: repair.summary, safe: repair.safe, ...(repair.force ? { force: true } : {}) } } : shown);
    }
  }
  return outcomes;
}
