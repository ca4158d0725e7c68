import type { Clock } from "../../base/clock.ts";
import { AppError } from "../../base/errors.ts";
import type { MethodParams, MethodResult } from "../../protocol/index.ts";
import { shownRequest, type ListedRule } from "../../tools/index.ts";
import type { ApprovalsPort, ExecRulesPort } from "../ports.ts";
import type { ApprovalBoard } from "./approvals/board.ts";
import type { CallContext, Caller, HandlersOf } from "./handler.ts";

const DECISIONS: readonly string[] = ["allow-once", "allow-always", "deny"];

export interface ApprovalDeps {
  readonly approvals: Pick<ApprovalsPort, "request" | "resolve" | "list">;
  readonly board: ApprovalBoard;
  readonly clock: Pick<Clock, "now">;
}

/** Asks the operators and waits. A caller that leaves does not take its question back: it may come again and wait for the decision. */
async function request(
  params: MethodParams<"exec.approval.request">,
  { accepted, caller }: CallContext,
  { approvals }: ApprovalDeps,
): Promise<MethodResult<"exec.approval.request">> {
  const { id, timeoutMs, twoPhase, idempotencyKey: _, ...shown } = params;
  const { agentId, sessionKey } = shown;
  const pending = await approvals.request({
    kind: "exec",
    // An approval that a client takes to a node is good for the device that asked.
    request: { ...shown, askedBy: caller.deviceId ?? null },
    ...(id === undefined ? {} : { id }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(agentId == null ? {} : { agentId }),
    ...(sessionKey == null ? {} : { sessionKey }),
  });
  const times = { createdAtMs: pending.createdAt, expiresAtMs: pending.expiresAt };
  if (twoPhase === true) accepted({ status: "accepted", id: pending.id, ...times });
  const decision = await pending.decision;
  return { id: pending.id, decision: decision === "timeout" || decision === "cancelled" ? null : decision, ...times };
}

const nameOf = ({ client }: Caller): string => client.displayName ?? client.id;

async function resolve(
  { id, decision }: MethodParams<"exec.approval.resolve">,
  { caller }: CallContext,
  { approvals }: ApprovalDeps,
): Promise<MethodResult<"exec.approval.resolve">> {
  if (!DECISIONS.includes(decision)) throw new AppError("INVALID_INPUT", `invalid decision: expected ${DECISIONS.join(", ")}`);
  await approvals.resolve(id, decision, nameOf(caller));
  return { ok: true };
}

async function list({ approvals, clock }: ApprovalDeps): Promise<MethodResult<"exec.approval.list">> {
  const rows = await approvals.list();
  return {
    approvals: rows.map(({ id, kind, request: asked, createdAt, expiresAt }) => ({
      id,
      kind,
      request: shownRequest(asked),
      createdAtMs: createdAt,
      expiresAtMs: expiresAt,
    })),
    nowMs: clock.now(),
  };
}

/** Asking a person about a command, and answering. */
export function approvalHandlers(deps: ApprovalDeps): HandlersOf<"exec.approval"> {
  return {
    "exec.approval.request": (params, context) => request(params, context, deps),
    "exec.approval.waitDecision": ({ id }, { signal }) => deps.board.wait(id, signal),
    "exec.approval.resolve": (params, context) => resolve(params, context, deps),
    "exec.approval.list": () => list(deps),
  };
}

const toWire = ({ createdAt, lastUsedAt, ...rest }: ListedRule): MethodResult<"exec.approvals.forget">["command"] => ({
  ...rest,
  createdAtMs: createdAt,
  lastUsedAtMs: lastUsedAt,
});

/** Which commands may run without asking. */
export function execRulesHandlers(rules: ExecRulesPort): Omit<HandlersOf<"exec.approvals">, keyof HandlersOf<"exec.approvals.node">> {
  return {
    "exec.approvals.get": () => rules.snapshot(),
    "exec.approvals.set": ({ file, baseHash }) => rules.replace(file, baseHash),
    "exec.approvals.remembered": async ({ agentId }) => ({ commands: (await rules.remembered(agentId)).map(toWire) }),
    "exec.approvals.forget": async ({ id }) => ({ ok: true, command: toWire(await rules.forget(id)) }),
  };
}
