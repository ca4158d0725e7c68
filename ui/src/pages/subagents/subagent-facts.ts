import type { MethodResult, SubagentBranch, SubagentRoot } from "openclaw/client";
import { duration } from "../../base/figures.ts";

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
  queued: { level: "", text: "Queued" },
  running: { level: "info", text: "Running" },
  done: { level: "good", text: "Done" },
  failed: { level: "bad", text: "Failed" },
  "timed out": { level: "bad", text: "Timed out" },
  killed: { level: "warn", text: "Stopped" },
};

export const stateOf = ({ status }: Pick<Subagent, "status">): Shown => STATES[status];

/** How long it has run, or ran; `now` in the gateway's time. Whole seconds while it runs, so that it can be read. */
export function tookText({ status, createdAt, startedAt, endedAt }: Pick<Subagent, "status" | "createdAt" | "startedAt" | "endedAt">, now: number): string {
  if (status === "queued") return `waiting for ${seconds(now - createdAt)}`;
  if (status === "running") return `for ${seconds(now - (startedAt ?? createdAt))}`;
  return startedAt === undefined || endedAt === undefined ? "never began" : `took ${duration(Math.max(1, endedAt - startedAt))}`;
}

function seconds(ms: number): string {
  const whole = Math.max(0, Math.floor(ms / 1000));
  return whole < 60 ? `${whole} s` : duration(whole * 1000);
}
