import type { MethodResult } from "openclaw/client";
import type { Tone } from "../../parts/state.ts";
import { nameIn } from "../chat/approvals-board.ts";
import type { SessionRow } from "../chat/sidebar-groups.ts";
import { t } from "../../words/words.ts";

export type HistoryEntry = MethodResult<"exec.approval.history">["entries"][number];
export type AgentPolicy = MethodResult<"exec.approvals.policy">["agents"][number];
export type Remembered = MethodResult<"exec.approvals.remembered">["commands"][number];
export type Explained = MethodResult<"exec.approvals.explain">;

/** How a request ended, in a word. */
export function outcomeOf({ state, decision, decidedBy, outcome }: Pick<HistoryEntry, "state" | "decision" | "decidedBy" | "outcome">): {
  readonly tone: Tone;
  readonly word: string;
} {
  if (state === "expired") return { tone: "", word: t("Expired") };
  if (state === "cancelled") return { tone: "", word: t("Withdrawn") };
  if (decidedBy === "restart") return { tone: "", word: t("Gateway restarted") };
  if (decision === "deny") return { tone: "bad", word: t("Denied") };
  if (outcome?.state === "lost") return { tone: "warn", word: t("Allowed, outcome unknown") };
  return { tone: "good", word: decision === "allow-always" ? t("Always allowed") : t("Allowed once") };
}

/** Who decided. */
export function deciderOf({ decidedBy, state }: Pick<HistoryEntry, "decidedBy" | "state">): string {
  if (decidedBy === "restart") return t("Gateway restart");
  return decidedBy ?? (state === "decided" ? t("Unknown") : t("Nobody"));
}

/** What became of the command, behind the decision. */
export function resultOf({ outcome }: Pick<HistoryEntry, "outcome">): string {
  if (!outcome) return "";
  if (outcome.state === "running") return t("still running");
  if (outcome.state === "ended" && outcome.exitCode !== null) return t`exit code ${outcome.exitCode}`;
  return outcome.why ?? "";
}

/** Where it was asked for, and where it would have run. */
export function originOf({ request }: Pick<HistoryEntry, "request">, rows: readonly SessionRow[] = []): string {
  const from = request.sessionKey === null ? t("A client") : nameIn(rows, request.sessionKey);
  return request.host === "node" || request.nodeId !== null ? t`${from}, on a node` : from;
}

const WHERE: Readonly<Record<AgentPolicy["host"], string>> = {
  sandbox: t("in a sandbox"),
  gateway: t("on the gateway’s machine"),
  node: t("on a node"),
};

/** The rules for an agent's commands, in one or two sentences. */
export function policyWords({ host, security, ask, askFallback, autoAllowSkills, allowlist }: AgentPolicy): string {
  if (host === "sandbox") return t("Commands run in a sandbox without asking.");
  if (security === "deny") return t("No command may run.");
  const place = WHERE[host];
  const first =
    ask === "always"
      ? t`Commands run ${place}. Every command needs approval.`
      : security === "full"
        ? t`Every command runs ${place} without asking.`
        : ask === "off"
          ? t`Only commands on the allowlist run ${place}. All others are refused.`
          : t`Commands on the allowlist run ${place}. All others need approval.`;
  const parts = [
    first,
    allowlist.length === 0 ? "" : allowlist.length === 1 ? t("1 allowlist entry.") : t`${allowlist.length} allowlist entries.`,
    autoAllowSkills ? t("Programs that skills need run without asking.") : "",
    ask !== "off" && askFallback !== "deny" ? t("Without an answer, commands run anyway.") : "",
  ];
  return parts.filter(Boolean).join(" ");
}

export const VERDICTS: Readonly<Record<Explained["decision"], { readonly tone: Tone; readonly word: string }>> = {
  run: { tone: "good", word: t("Runs without asking") },
  ask: { tone: "warn", word: t("Asks for approval") },
  deny: { tone: "bad", word: t("Refused") },
};
