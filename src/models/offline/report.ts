import { isRecord } from "../../base/records.ts";
import { clip } from "../../base/text.ts";
import { say, type Reply } from "./reply.ts";
import type { Step } from "./turn.ts";

const MAX_SHOWN_CHARS = 3000;

/** Text in a code fence that it cannot close itself. */
export function fenced(text: string): string {
  const ticks = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length)) + 1;
  const fence = "`".repeat(ticks);
  return `${fence}\n${text.replace(/\n+$/, "")}\n${fence}`;
}

function subjectOf({ name, arguments: args }: Step): string {
  const subject = Object.values(args).find((value) => typeof value === "string" && value.trim() !== "" && value.length <= 200);
  return typeof subject === "string" ? `\`${subject.replaceAll("`", "'")}\` (${name})` : `\`${name}\``;
}

/** Reports a tool's result in plain words. */
export function reportStep(step: Step): string {
  const subject = subjectOf(step);
  const text = step.text.trimEnd();
  const shown = clip(text, MAX_SHOWN_CHARS);
  const cut = shown === text ? "" : `\n(${text.length - MAX_SHOWN_CHARS} more characters are not shown)`;
  if (text.trim() === "") return step.isError ? `${subject} failed without saying why.` : `${subject} is done; it gave no output.`;
  if (step.isError) return `${subject} failed:\n\n${fenced(shown)}${cut}`;
  return /\n/.test(text) || text.length > 160 ? `${subject} gave:\n\n${fenced(shown)}${cut}` : `${subject}: ${text}`;
}

export function reportSteps(steps: readonly Step[]): Reply {
  return say(steps.map(reportStep).join("\n\n"));
}

/** A tool's result as a JSON object, if it is one. */
export function jsonOf({ text }: Step): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
