import { AppError } from "../../base/errors.ts";
import type { ToolContext } from "../tool.ts";
import type { ExecHost } from "./environment.ts";
import { DEFAULT_PATH, place, rulesFor, withFolder, type RulingDeps } from "./exec.ts";
import { coverOf, judgePlan, type Cover, type JudgeRules } from "./judge.ts";
import { pinPlan, planCommand, shownText, type ExecPlan } from "./plan.ts";
import { pinnedFiles } from "./remember/pins.ts";
import { describeAlways, describeRule } from "./remember/rule.ts";
import type { EffectiveRules } from "./rules-file.ts";

/** The rules that hold for an agent's commands. */
export interface CommandPolicy extends EffectiveRules {
  readonly host: ExecHost;
  readonly sandboxed: boolean;
}

/** What would happen to a command. */
export interface ExplainedCommand {
  readonly decision: "run" | "ask" | "deny";
  readonly where: ExecHost;
  readonly why: string;
  /** What "allow always" would store; null where nobody is asked. */
  readonly always: string | null;
  readonly programs: readonly { readonly text: string; readonly path: string | null; readonly allowedBy: string | null }[];
}

/** The rules for commands, for people. Nothing runs. */
export interface CommandRules {
  policy(context: ToolContext): CommandPolicy;
  explain(context: ToolContext, command: string): Promise<ExplainedCommand>;
}

function coverText(cover: Cover | undefined): string | null {
  switch (cover?.kind) {
    case "entry":
      return `allowlist: ${cover.entry.pattern}`;
    case "skill":
      return "required by a skill";
    case "safe":
      return "safe: it only filters its input";
    case "remembered":
      return `always allowed: ${describeRule(cover.rule)}`;
    default:
      return null;
  }
}

function whyAsk(plan: ExecPlan, rules: JudgeRules, uncovered: readonly string[]): string {
  if (rules.ask === "always") return "The rules require approval for every command.";
  if (!plan.analysable) return "Its meaning is known only to the shell, so no allowlist can cover it.";
  if (uncovered.length > 0) return `Not on the allowlist: ${uncovered.join(", ")}.`;
  return "It sets variables, reads protected files or runs a script that could change, so it needs approval although its programs are allowed.";
}

/** A command that runs on this machine, by its rules. */
async function explainHere(deps: RulingDeps, context: ToolContext, command: string, settings: ReturnType<typeof place>["settings"]): Promise<ExplainedCommand> {
  const { workspaceDir } = context;
  const path = withFolder(deps.env["PATH"] ?? DEFAULT_PATH, deps.programFolder);
  const made = planCommand({ command, cwd: workspaceDir, host: settings.host, path, pathPrepend: settings.pathPrepend, shell: deps.env["SHELL"] });
  const plan = pinPlan(made, pinnedFiles(made, deps.home));
  const rules = await rulesFor(deps, context, plan, settings);
  const verdict = judgePlan(plan, rules);
  const programs = plan.segments.map((segment) => ({
    text: shownText(segment.argv.join(" ")),
    path: segment.executable,
    allowedBy: rules.security === "deny" ? null : coverText(coverOf(segment, plan, rules)),
  }));
  const uncovered = programs.filter(({ allowedBy }) => allowedBy === null).map(({ text, path: file }) => file ?? text);
  const why =
    verdict.kind === "deny"
      ? rules.security === "deny"
        ? "Commands are turned off for this agent."
        : `The rules never ask for approval, and this is not on the allowlist${uncovered.length > 0 ? `: ${uncovered.join(", ")}` : ""}.`
      : verdict.kind === "ask"
        ? whyAsk(plan, rules, uncovered)
        : rules.security === "full"
          ? "The rules allow every command of this agent."
          : "Every program in it is allowed.";
  const always = verdict.kind === "ask" ? shownText(describeAlways(plan, { workspace: workspaceDir, home: deps.home })) : null;
  return { decision: verdict.kind, where: settings.host, why, always, programs };
}

export function createCommandRules(deps: RulingDeps): CommandRules {
  return {
    policy(context) {
      const sandboxed = deps.sandboxed(context);
      const settings = deps.settings(context);
      const isHere = settings.host === "sandbox" && !sandboxed;
      const rules = deps.rules.effective(context.agentId, isHere ? { ...settings, security: settings.hostSecurity } : settings);
      return { ...rules, sandboxed, host: isHere ? "gateway" : settings.host };
    },
    async explain(context, command) {
      const none = { always: null, programs: [] };
      let chosen: ReturnType<typeof place>;
      try {
        chosen = place(deps, { params: { command }, context });
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        return { ...none, decision: "deny", where: deps.settings(context).host, why: error.message };
      }
      const { settings, sandbox } = chosen;
      if (settings.host === "node") return { ...none, decision: "ask", where: "node", why: "It runs on a node, whose own rules decide." };
      if (sandbox) return { ...none, decision: "run", where: "sandbox", why: "It runs in the sandbox of the session, where no approval is needed." };
      return explainHere(deps, context, command, settings);
    },
  };
}
