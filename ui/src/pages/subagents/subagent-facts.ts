import { waitsFor, type MethodResult, type SubagentBranch, type SubagentRoot } from "openclaw/client";
import { duration, plural } from "../../base/figures.ts";
import { t } from "../../words/words.ts";

export type Subagent = MethodResult<"subagents.list">["subagents"][number];

/** A sub-agent with those that it started. */
export type Branch = SubagentBranch<Subagent>;
/** A session that started sub-agents. */
export type Root = SubagentRoot<Subagent>;

export const isActive = ({ status }: Pick<Subagent, "status">): boolean => status === "queued" || status === "running";

export const nameOf = ({ label, task }: Pick<Subagent, "label" | "task">): string => label ?? task.replaceAll(/\s+/g, " ").trim();

/** Only what runs, with those that it hangs on. */
export function runningOnly(branches: readonly Branch[]): readonly Branch[] {
  return branches.flatMap(({ subagent, children }) => {
    const left = runningOnly(children);
    return isActive(subagent) || left.length > 0 ? [{ subagent, children: left }] : [];
  });
}

export interface Total {
  readonly running: number;
  readonly tokens: number;
  readonly costUsd: number;
}

export function totalOf(subagents: readonly Subagent[]): Total {
  const sum = (of: (subagent: Subagent) => number): number => subagents.reduce((total, subagent) => total + of(subagent), 0);
  return { running: subagents.filter(isActive).length, tokens: sum(({ tokens }) => tokens.total), costUsd: sum(({ costUsd }) => costUsd) };
}

export interface Shown {
  readonly level: "good" | "warn" | "bad" | "info" | "";
  readonly text: string;
}

const STATES: Readonly<Record<Subagent["status"], Shown>> = {
  queued: { level: "", text: t("Queued") },
  running: { level: "info", text: t("Running") },
  done: { level: "good", text: t("Done") },
  failed: { level: "bad", text: t("Failed") },
  "timed out": { level: "bad", text: t("Timed out") },
  killed: { level: "warn", text: t("Stopped") },
};

/** One that has answered and waits for its own has not ended for those who asked: it reports after them. */
export function stateOf(branch: Branch): Shown {
  const own = waitsFor(branch);
  return own > 0 ? { level: "info", text: t`Waiting for ${plural(own, t("sub-agent"), t("sub-agents"))}` } : STATES[branch.subagent.status];
}

/** How long it has run, or ran; `now` in the gateway's time. Whole seconds while it runs, so that it can be read. */
export function tookText(branch: Branch, now: number): string {
  const { status, createdAt, startedAt, endedAt } = branch.subagent;
  if (status === "queued") return t`waiting for ${seconds(now - createdAt)}`;
  if (status === "running" || waitsFor(branch) > 0) return t`for ${seconds(now - (startedAt ?? createdAt))}`;
  return startedAt === undefined || endedAt === undefined ? t("never started") : t`took ${duration(Math.max(1, endedAt - startedAt))}`;
}

function seconds(ms: number): string {
  const whole = Math.max(0, Math.floor(ms / 1000));
  return whole < 60 ? `${whole} s` : duration(whole * 1000);
}
