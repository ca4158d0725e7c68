import type { Clock } from "../../base/clock.ts";
import { AppError } from "../../base/errors.ts";
import { clip } from "../../base/text.ts";
import type { Config } from "../../config/index.ts";
import type { MethodParams, MethodResult } from "../../protocol/index.ts";
import { shownRequest, type ListedRule } from "../../tools/index.ts";
import type { ApprovalsPort, ExecRulesPort } from "../ports.ts";
import { agentList, knownAgent } from "./sessions/keys.ts";
import type { ApprovalBoard } from "./approvals/board.ts";
import type { CallContext, Caller, HandlersOf } from "./handler.ts";

const DECISIONS: readonly string[] = ["allow-once", "allow-always", "deny"];

export interface ApprovalDeps {
  readonly approvals: Pick<ApprovalsPort, "request" | "resolve" | "list" | "history">;
  readonly board: ApprovalBoard;
  readonly clock: Pick<Clock, "now">;
}

/** Asks the operators and waits. A caller that knows the id may come again and wait for the decision; the question of any other one goes with it. */
async function request(
  params: MethodParams<"exec.approval.request">,
  { accepted, caller, signal }: CallContext,
  { approvals }: ApprovalDeps,
): Promise<MethodResult<"exec.approval.request">> {
  const { id, timeoutMs, twoPhase, idempotencyKey: _, ...shown } = params;
  const { agentId, sessionKey } = shown;
  const isLasting = twoPhase === true || id !== undefined;
  const question = {
    kind: "exec",
    // An approval that a client takes to a node is good for the device that asked.
    request: { ...shown, askedBy: caller.deviceId ?? null },
    ...(id === undefined ? {} : { id }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(agentId == null ? {} : { agentId }),
    ...(sessionKey == null ? {} : { sessionKey }),
  };
  const pending = await approvals.request(question, isLasting ? undefined : signal);
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

const HISTORY_MOST = 200;
const HISTORY_CHARS = 4000;

async function history(
  { limit = 50, before }: MethodParams<"exec.approval.history">,
  { approvals }: ApprovalDeps,
): Promise<MethodResult<"exec.approval.history">> {
  const rows = await approvals.history({ limit: Math.min(limit, HISTORY_MOST), before });
  const oldest = rows.at(-1)?.decidedAt ?? undefined;
  return {
    entries: rows.flatMap((row) => {
      if (row.state === "pending") return [];
      const request = shownRequest(row.request);
      const withdrawn = row.decision === "cancelled";
      const { outcome } = row;
      return [
        {
          id: row.id,
          kind: row.kind,
          request: { ...request, command: clip(request.command, HISTORY_CHARS) },
          state: withdrawn ? ("cancelled" as const) : row.state,
          decision: withdrawn ? null : row.decision,
          decidedBy: row.decidedBy,
          createdAtMs: row.createdAt,
          decidedAtMs: row.decidedAt,
          outcome: outcome && { state: outcome.state, exitCode: outcome.exitCode ?? null, why: outcome.why ?? null },
        },
      ];
    }),
    more: oldest !== undefined && (await approvals.history({ limit: 1, before: oldest })).length > 0,
  };
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
    "exec.approval.history": (params) => history(params, deps),
  };
}

const toWire = ({ createdAt, lastUsedAt, ...rest }: ListedRule): MethodResult<"exec.approvals.forget">["command"] => ({
  ...rest,
  createdAtMs: createdAt,
  lastUsedAtMs: lastUsedAt,
});

/** Which commands may run without asking. */
export function execRulesHandlers({
  rules,
  config,
}: {
  readonly rules: ExecRulesPort;
  readonly config: Pick<Config, "current">;
}): Omit<HandlersOf<"exec.approvals">, keyof HandlersOf<"exec.approvals.node">> {
  return {
    "exec.approvals.get": () => rules.snapshot(),
    "exec.approvals.set": ({ file, baseHash }) => rules.replace(file, baseHash),
    "exec.approvals.remembered": async ({ agentId }) => ({ commands: (await rules.remembered(agentId)).map(toWire) }),
    "exec.approvals.restore": async ({ id }) => ({ ok: true, command: toWire(await rules.restore(id)) }),
    "exec.approvals.policy": async () => ({
      agents: await Promise.all(
        [...new Set([knownAgent(undefined, config.current), ...agentList(config.current).map(({ id }) => id.toLowerCase())])].map(async (agentId) => {
          const { host, sandboxed, security, ask, askFallback, autoAllowSkills, allowlist } = await rules.policy(agentId);
          return { agentId, host, sandboxed, security, ask, askFallback, autoAllowSkills, allowlist: allowlist.map((entry) => ({ ...entry })) };
        }),
      ),
    }),
    "exec.approvals.explain": async ({ command, agentId: named }) => {
      const agentId = knownAgent(named, config.current);
      const { programs, ...explained } = await rules.explain(agentId, command);
      return { agentId, ...explained, programs: programs.map((program) => ({ ...program })) };
    },
    "exec.approvals.forget": async ({ id }) => ({ ok: true, command: toWire(await rules.forget(id)) }),
  };
}
