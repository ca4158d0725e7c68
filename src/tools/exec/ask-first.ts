import { messageOf } from "../../base/errors.ts";
import type { ApprovalDecision } from "../broker/approval.ts";
import { failedOutcome, textOutcome, type ToolContext, type ToolOutcome } from "../tool.ts";
import type { ExecToolDeps } from "./deps.ts";
import { rememberedPaths } from "./judge.ts";
import { shownCommand, type ExecPlan } from "./plan.ts";
import type { EffectiveRules } from "./rules-file.ts";
import { startPlan, type PlanRun } from "./run.ts";
import type { ExecSettings } from "./settings.ts";

const TIMEOUT_MS = 120_000;
const TAIL_CHARS = 400;
const SLUG_CHARS = 8;

interface Question {
  readonly plan: ExecPlan;
  readonly rules: EffectiveRules;
  /** Every segment is allowed; it is asked all the same. */
  readonly satisfied: boolean;
  readonly settings: ExecSettings;
  readonly run: PlanRun;
  readonly context: ToolContext;
}

/** Asks the operator about a plan and answers at once; what comes of it is announced to the session. */
export async function askFirst(deps: ExecToolDeps, question: Question): Promise<ToolOutcome> {
  const { plan, rules, context } = question;
  const { agentId, sessionKey } = context;
  let pending;
  try {
    pending = await deps.approvals.request({
      kind: "exec",
      sessionKey,
      agentId,
      timeoutMs: TIMEOUT_MS,
      request: {
        command: shownCommand(plan),
        cwd: plan.cwd,
        host: plan.host,
        security: rules.security,
        ask: rules.ask,
        agentId,
        resolvedPath: plan.segments[0]?.executable ?? null,
        sessionKey,
        plan,
      },
    });
  } catch (error) {
    const text = `exec denied: the question could not be asked: ${messageOf(error)}`;
    return failedOutcome(text, { status: "error", error: text });
  }
  const { id, expiresAt, decision } = pending;
  void decision
    .then((decided) => carryOn(deps, question, id, decided))
    .catch((error: unknown) => deps.log.warn(`exec after approval: ${messageOf(error)}`, { sessionKey }));
  const slug = id.slice(0, SLUG_CHARS);
  const lines = [...question.run.warnings, `Approval required (id ${slug}). Approve to run; updates will arrive after completion.`];
  const details = {
    status: "approval-pending",
    approvalId: id,
    approvalSlug: slug,
    expiresAtMs: expiresAt,
    host: plan.host,
    command: plan.command,
    cwd: plan.cwd,
  };
  return textOutcome(lines.join("\n\n"), details);
}

async function carryOn(deps: ExecToolDeps, question: Question, id: string, decision: ApprovalDecision): Promise<void> {
  const { plan, context } = question;
  const denied = refusal(question, decision);
  if (denied !== undefined) return deps.announce(context, `Exec denied (gateway id=${id}, ${denied}): ${plan.command}`);
  if (decision === "allow-always") {
    // The command was allowed either way: a file that cannot be written only means that it is asked again.
    await deps.rules.allow(context.agentId, rememberedPaths(plan), plan.command).catch((error: unknown) => deps.log.warn(messageOf(error)));
  }
  await runApproved(deps, question, id);
}

/** Why it does not run; undefined when it does. */
function refusal({ rules, satisfied }: Question, decision: ApprovalDecision): string | undefined {
  if (decision === "allow-once" || decision === "allow-always") return undefined;
  if (decision === "deny") return "user-denied";
  if (decision === "cancelled") return "approval-request-failed";
  if (rules.askFallback === "full" || (rules.askFallback === "allowlist" && satisfied)) return undefined;
  return rules.askFallback === "allowlist" ? "approval-timeout (allowlist-miss)" : "approval-timeout";
}

async function runApproved(deps: ExecToolDeps, { plan, run, settings, context }: Question, id: string): Promise<void> {
  let process;
  try {
    process = await startPlan(plan, plan.hash, run);
  } catch {
    return deps.announce(context, `Exec denied (gateway id=${id}, spawn-failed): ${plan.command}`);
  }
  process.toBackground();
  const { approvalRunningNoticeMs: noticeMs } = settings;
  const session = process.id;
  const notice = (): void => deps.announce(context, `Exec running (gateway id=${id}, session=${session}, >${Math.round(noticeMs / 1000)}s): ${plan.command}`);
  using _timer = noticeMs > 0 ? deps.clock.after(noticeMs, notice) : undefined;
  const end = await process.ended;
  const tail = process.output.tail().trim().slice(-TAIL_CHARS);
  const how = end.timedOut ? "timeout" : end.code === null ? `signal ${end.signal ?? "unknown"}` : `code ${end.code}`;
  deps.announce(context, `Exec finished (gateway id=${id}, session=${session}, ${how})${tail === "" ? "" : `\n${tail}`}`);
}
