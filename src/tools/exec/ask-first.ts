import { AppError, messageOf } from "../../base/errors.ts";
import { failpoint } from "../../base/failpoints.ts";
import type { CommandOutcome } from "../../store/index.ts";
import { approvalSlug } from "../approvals/approvals.ts";
import type { ApprovalDecision } from "../broker/approval.ts";
import type { CommandProcess } from "../process/processes.ts";
import { failedOutcome, textOutcome, type ToolContext, type ToolOutcome } from "../tool.ts";
import type { ExecToolDeps, ShownOutput } from "./deps.ts";
import { outcomeText } from "./outcome-text.ts";
import { shownCommand, shownEnvironment, shownText, type ExecPlan } from "./plan.ts";
import { describeAlways, type Folders } from "./remember/rule.ts";
import type { EffectiveRules } from "./rules-file.ts";
import { startPlan, type PlanRun } from "./run.ts";
import type { ExecSettings } from "./settings.ts";

export const TIMEOUT_MS = 120_000;
export const OUTPUT_CHARS = 8000;
/** Nobody can say yes to what they are not shown whole. */
export const MOST_SHOWN_CHARS = 100_000;

interface Question {
  readonly plan: ExecPlan;
  readonly rules: EffectiveRules;
  /** Every segment is allowed; it is asked all the same. */
  readonly satisfied: boolean;
  readonly settings: ExecSettings;
  readonly run: PlanRun;
  readonly context: ToolContext;
  /** Where the session goes on. */
  readonly origin: Readonly<Record<string, unknown>>;
}

/** What is known about a command when its outcome is recorded. */
export interface Concluded extends Pick<Question, "context" | "origin"> {
  readonly plan: Pick<ExecPlan, "command">;
  /** Where it ran, if not on the gateway. */
  readonly node?: string;
}

/** Asks the operator about a plan and answers at once; what comes of it is announced to the session. */
export async function askFirst(deps: ExecToolDeps, asked: Omit<Question, "origin">): Promise<ToolOutcome> {
  const question: Question = { ...asked, origin: deps.origin?.(asked.context) ?? {} };
  const { plan, rules, context, origin } = question;
  const { agentId, sessionKey } = context;
  const command = shownCommand(plan);
  if (command.length > MOST_SHOWN_CHARS) {
    const text = `exec denied: a command of ${command.length} characters cannot be shown in full to the approver (${MOST_SHOWN_CHARS} at most); write it to a file and run that`;
    return failedOutcome(text, { status: "error", error: text });
  }
  let pending;
  try {
    pending = await deps.approvals.request({
      kind: "exec",
      sessionKey,
      agentId,
      timeoutMs: TIMEOUT_MS,
      request: {
        command,
        cwd: plan.cwd,
        environment: shownEnvironment(plan),
        host: plan.host,
        security: rules.security,
        ask: rules.ask,
        agentId,
        resolvedPath: plan.segments[0]?.executable ?? null,
        sessionKey,
        always: shownText(describeAlways(plan, foldersOf(deps, context))),
        plan,
        origin,
      },
    });
  } catch (error) {
    const text = `exec denied: the approval could not be requested: ${messageOf(error)}`;
    return failedOutcome(text, { status: "error", error: text });
  }
  const { id, expiresAt, decision } = pending;
  void decision
    .then((decided) => carryOn(deps, question, id, decided))
    .catch((error: unknown) => deps.log.warn(`exec after approval: ${messageOf(error)}`, { sessionKey }));
  const slug = approvalSlug(id);
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
  // The gateway stops: the next one tells the session.
  if (deps.processes.closing) return;
  const why = refusal(question, decision);
  if (why !== undefined) return conclude(deps, question, id, { state: "denied", why });
  if (decision === "allow-always") {
    // The command was allowed either way: what cannot be written only means that it is asked again.
    await deps.remembered.remember(context.agentId, plan, foldersOf(deps, context)).catch((error: unknown) => deps.log.warn(messageOf(error)));
  }
  await runApproved(deps, question, id);
}

const foldersOf = ({ home }: ExecToolDeps, { workspaceDir }: ToolContext): Folders => ({ workspace: workspaceDir, home });

/** Records the outcome, then lets the session continue. `quietly`: the command was ended on purpose, so only the next turn is notified. */
export async function conclude(
  deps: ExecToolDeps,
  { plan, context, origin, node }: Concluded,
  id: string,
  outcome: CommandOutcome,
  quietly = false,
): Promise<void> {
  const { sessionKey } = context;
  const asked = { id, sessionKey, command: plan.command, origin, ...(node === undefined ? {} : { node }) };
  const announced = quietly || deps.goOn === undefined;
  await deps.approvals.recordOutcome(id, sessionKey, announced ? { ...outcome, reported: true } : outcome);
  failpoint("command.outcome.committed");
  if (announced) deps.announce(context, outcomeText(asked, outcome)!);
  else await deps.goOn?.(asked, outcome);
}

interface RefusalRules {
  readonly rules: Pick<EffectiveRules, "askFallback">;
  readonly satisfied: boolean;
}

/** Why it does not run; undefined when it does. */
export function refusal({ rules, satisfied }: RefusalRules, decision: ApprovalDecision): string | undefined {
  if (decision === "allow-once" || decision === "allow-always") return undefined;
  if (decision === "deny") return "user-denied";
  if (decision === "cancelled") return "approval-request-failed";
  if (rules.askFallback === "full" || (rules.askFallback === "allowlist" && satisfied)) return undefined;
  return rules.askFallback === "allowlist" ? "approval-timeout (allowlist-miss)" : "approval-timeout";
}

async function runApproved(deps: ExecToolDeps, question: Question, id: string): Promise<void> {
  const { plan, run, settings, context } = question;
  const { clock, approvals } = deps;
  const begun: CommandOutcome = { state: "running", startedAt: clock.now() };
  // Before it starts: what is found so later is never run again.
  await approvals.recordOutcome(id, context.sessionKey, begun);
  let shown: ShownOutput | undefined;
  let process: CommandProcess;
  try {
    process = await startPlan(plan, plan.hash, run, () => shown?.changed());
  } catch (error) {
    const changed = error instanceof AppError && error.code === "CONFLICT";
    return conclude(deps, question, id, { state: "denied", why: changed ? `changed-since-asked: ${error.message}` : "spawn-failed" });
  }
  process.toBackground();
  using _shown = (shown = deps.show?.(id, context.sessionKey, () => process.output.tail()));
  const { approvalRunningNoticeMs: noticeMs } = settings;
  const session = process.id;
  const notice = (): void => deps.announce(context, `Exec running (gateway id=${id}, session=${session}, >${Math.round(noticeMs / 1000)}s): ${plan.command}`);
  using _timer = noticeMs > 0 ? clock.after(noticeMs, notice) : undefined;
  const { code, signal, timedOut } = await process.ended;
  // It was ended with the gateway: the next one tells that it does not know what came of it.
  if (deps.processes.closing && process.killed) return;
  const hint = code === 0 || code === null ? undefined : run.hint?.(plan, process.output.aggregated());
  const output = [process.output.tail().trim().slice(-OUTPUT_CHARS), hint].filter(Boolean).join("\n\n");
  const outcome: CommandOutcome = { ...begun, state: "ended", session, endedAt: clock.now(), exitCode: code, signal, timedOut, output };
  await conclude(deps, question, id, outcome, process.killed && !timedOut);
}
