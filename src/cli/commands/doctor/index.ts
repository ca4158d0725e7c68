import type { Check, Finding, Outcome, Repair } from "../../../doctor/index.ts";
import { escapeJoined } from "../../../base/printable.ts";
import { defineCommand, JSON_OPTION, type Values } from "../../command.ts";
import { printJson, type Io } from "../../io.ts";
import { createStyle } from "../../output/style.ts";
import { openDoctor } from "./deps.ts";
import { box, conclusion, findingsInFull, findingsTable, reportJson } from "./report.ts";

export const DOCTOR_OPTIONS = {
  fix: { type: "boolean", help: "Apply the recommended repairs without asking, and remove unknown keys" },
  repair: { type: "boolean", help: "Same as --fix" },
  yes: { type: "boolean", help: "Answer yes to every question; keeps unknown keys" },
  force: { type: "boolean", help: "With --fix: also overwrite service files that were edited by hand" },
  "non-interactive": { type: "boolean", help: "Don't ask; only apply repairs that remove nothing" },
  deep: { type: "boolean", help: "Also check system services and read a large database in full" },
  "generate-gateway-token": { type: "boolean", help: "Generate a gateway token if there is none" },
  "no-workspace-suggestions": { type: "boolean", help: "Don't show workspace suggestions" },
  json: JSON_OPTION,
} as const;

type Flags = Values<typeof DOCTOR_OPTIONS>;

/** Which repairs are made: none, unless the user agrees. */
function decider(io: Io, flags: Flags): (repair: Repair, check: Check) => boolean | Promise<boolean> {
  const fixes = flags.fix === true || flags.repair === true;
  let asks = !flags.json && io.interactive;

  async function ask(question: string): Promise<boolean> {
    try {
      return await io.confirm(escapeJoined(question));
    } catch (error) {
      if (!(error instanceof Error && error.name === "AbortError")) throw error;
      // A user who cancels a question is not asked another one.
      asks = false;
      return false;
    }
  }

  return (repair, { id }) => {
    if (repair.force) return fixes && flags.force === true;
    if (fixes || (id === "gateway.auth" && flags["generate-gateway-token"])) return true;
    if (flags.yes) return id !== "config.keys";
    if (flags["non-interactive"]) return repair.safe;
    return asks && ask(`${repair.summary}?`);
  };
}

export const doctor = defineCommand({
  options: DOCTOR_OPTIONS,
  examples: [
    { line: "openclaw doctor", does: "Show problems and how to fix them" },
    { line: "openclaw doctor --fix", does: "Show problems and repair them" },
    { line: "openclaw doctor --json", does: "Print JSON" },
  ],
  async run({ io, values }) {
    const { CHECKS, examine, TOPICS } = await import("../../../doctor/index.ts");
    const style = createStyle(io.color);
    const boxes = !values.json && io.interactive;
    using deps = await openDoctor(io, {
      deep: values.deep ?? false,
      generateToken: values["generate-gateway-token"] ?? false,
      suggestions: !values["no-workspace-suggestions"],
    });
    const typed = <T extends Finding | Outcome>(found: T): T => ({
      ...found,
      text: io.runnable(found.text),
      ...(found.todo === undefined ? {} : { todo: io.runnable(found.todo) }),
    });
    const examined = await examine(deps, {
      checks: CHECKS,
      decide: decider(io, values),
      onFound(check, findings) {
        const shown = findings.filter(({ level }) => level !== "ok");
        if (boxes && shown.length > 0) io.out(box(TOPICS[check.topic], check, shown.map(typed), io));
      },
      onTried({ repaired, text }) {
        if (boxes) io.out(repaired === undefined ? `${style.red("✗")} ${escapeJoined(text)}\n` : `${style.green("✓")} ${escapeJoined(repaired)}\n`);
      },
    });
    const outcomes = examined.map(typed);
    if (values.json) return printJson(io, reportJson(outcomes));
    io.out(boxes ? findingsTable(outcomes, io) : findingsInFull(outcomes, io));
    io.out(io.runnable(conclusion(outcomes, CHECKS.length, io)));
  },
});
