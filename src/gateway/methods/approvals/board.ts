import type { Clock } from "../../../base/clock.ts";
import { AppError } from "../../../base/errors.ts";
import { isRecord } from "../../../base/records.ts";
import type { EventPayload, MethodResult } from "../../../protocol/index.ts";
import { SHOWN_REQUEST_CHARS, shownRequest, type ApprovalNotice, type OperatorDecision } from "../../../tools/index.ts";
import type { ApprovalsPort } from "../../ports.ts";
import type { Broadcast } from "../deps.ts";

type Decided = MethodResult<"exec.approval.waitDecision">;
type PluginQuestion = EventPayload<"plugin.approval.requested">["request"];

/** Questions that were asked while this gateway runs, for those who wait for their answers. */
export interface ApprovalBoard extends Disposable {
  /** Resolves with the decision, also of a question that was answered a moment ago. `NOT_FOUND` when there is none. */
  wait(id: string, signal: AbortSignal): Promise<Decided>;
}

export interface ApprovalBoardDeps {
  readonly approvals: Pick<ApprovalsPort, "onNotice">;
  readonly broadcast: Broadcast;
  readonly clock: Pick<Clock, "now">;
}

/** How long an answer can still be asked for. */
const KEEP_MS = 15_000;

interface Posted {
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  readonly decided: PromiseWithResolvers<Decided["decision"]>;
  /** Of a question that is about no command. */
  readonly question: PluginQuestion | undefined;
  endedAt?: number;
}

const textOf = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value : null);

/** Who decides about questions that an earlier process left open. */
const RESTART = "restart";
const SEVERITIES = ["info", "warning", "critical"] as const;

/** A question of a plugin, or of a tool about itself, as clients get it. */
function pluginQuestion(asked: unknown, allowed: readonly OperatorDecision[]): PluginQuestion {
  const facts = isRecord(asked) ? asked : {};
  return {
    title: textOf(facts["title"]) ?? "(not specified)",
    description: textOf(facts["description"])?.slice(0, SHOWN_REQUEST_CHARS) ?? "",
    severity: SEVERITIES.find((one) => one === facts["severity"]) ?? "warning",
    pluginId: textOf(facts["pluginId"]),
    toolName: textOf(facts["toolName"]),
    toolCallId: textOf(facts["toolCallId"]),
    allowedDecisions: [...allowed],
    agentId: textOf(facts["agentId"]),
    sessionKey: textOf(facts["sessionKey"]),
  };
}

/** Announces questions and decisions, and keeps answers for those who come late. */
export function createApprovalBoard({ approvals, broadcast, clock }: ApprovalBoardDeps): ApprovalBoard {
  const posted = new Map<string, Posted>();

  function forgetOld(): void {
    for (const [id, { endedAt }] of posted) if (endedAt !== undefined && clock.now() - endedAt > KEEP_MS) posted.delete(id);
  }

  function ended(notice: Extract<ApprovalNotice, { type: "resolved" }>): void {
    const { id, decision, by, at } = notice;
    const nobody = decision === "timeout" || decision === "cancelled";
    const one = posted.get(id);
    if (one) one.endedAt = clock.now();
    one?.decided.resolve(nobody ? null : decision);
    if (!nobody) broadcast("exec.approval.resolved", { id, decision, resolvedBy: by, ts: at });
    // Clients see by its time that a command was not decided about. Whatever else ended without a decision is closed for those that know commands only.
    else if (notice.kind !== "exec" || decision !== "timeout")
      broadcast("exec.approval.resolved", { id, decision: "deny", resolvedBy: by ?? decision, ts: at });
    if (notice.kind === "exec") return;
    const reason = nobody ? decision : by === RESTART ? "gateway-restart" : "user";
    const request = one?.question ?? pluginQuestion(notice.request, []);
    broadcast("plugin.approval.resolved", { id, decision: nobody ? null : decision, reason, resolvedBy: by, ts: at, request });
  }

  const subscription = approvals.onNotice((notice) => {
    forgetOld();
    if (notice.type === "resolved") return ended(notice);
    const times = { createdAtMs: notice.createdAt, expiresAtMs: notice.expiresAt };
    const question = notice.kind === "exec" ? undefined : pluginQuestion(notice.request, notice.allowed);
    posted.set(notice.id, { ...times, decided: Promise.withResolvers(), question });
    if (question) broadcast("plugin.approval.requested", { approvalKind: "plugin", id: notice.id, request: question, ...times });
    // Also for clients that know commands only.
    broadcast("exec.approval.requested", { id: notice.id, request: shownRequest(notice.request), ...times });
  });

  return {
    async wait(id, signal) {
      forgetOld();
      const one = posted.get(id);
      if (!one) throw new AppError("NOT_FOUND", "approval expired or not found", { details: { id } });
      const gone = Promise.withResolvers<never>();
      const leave = (): void => gone.reject(new AppError("CANCELLED", "the caller no longer waits"));
      if (signal.aborted) leave();
      signal.addEventListener("abort", leave, { once: true });
      try {
        const decision = await Promise.race([one.decided.promise, gone.promise]);
        return { id, decision, createdAtMs: one.createdAtMs, expiresAtMs: one.expiresAtMs };
      } finally {
        signal.removeEventListener("abort", leave);
      }
    },
    [Symbol.dispose]: () => subscription[Symbol.dispose](),
  };
}
