import { readableKey, type MethodResult } from "openclaw/client";
import { t } from "../../words/words.ts";
import type { UsageAnswer } from "../overview/usage-series.ts";

export type Measure = "cost" | "tokens";
export const DIMENSIONS = ["model", "agent", "channel", "work", "session"] as const;
export type Dimension = (typeof DIMENSIONS)[number];

/** One line of a breakdown. */
export interface UsageRow {
  readonly name: string;
  /** The session it is. */
  readonly key?: string;
  readonly calls: number;
  readonly input: number;
  readonly output: number;
  readonly cached: number;
  readonly tokens: number;
  readonly cost: number;
}

const object = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
const text = (value: unknown): string => (typeof value === "string" ? value : "");
const figure = (value: unknown): number => (typeof value === "number" && Number.isFinite(value) ? value : 0);

function rowOf(totals: unknown, calls: unknown, name: string, key?: string): UsageRow {
  const sums = object(totals);
  return {
    name,
    ...(key === undefined ? {} : { key }),
    calls: figure(calls),
    input: figure(sums["input"]),
    output: figure(sums["output"]),
    cached: figure(sums["cacheRead"]) + figure(sums["cacheWrite"]),
    tokens: figure(sums["totalTokens"]),
    cost: figure(sums["totalCost"]),
  };
}

const CHANNELS: Readonly<Record<string, string>> = {
  webchat: t("Control UI and clients"),
  media: t("Files and pictures"),
  titles: t("Chat titles"),
};

const WORK: Readonly<Record<string, string>> = {
  message: t("Messages"),
  heartbeat: t("Heartbeats"),
  cron: t("Scheduled jobs"),
  webhook: t("Webhooks"),
  subagent: t("Sub-agents"),
  media: t("Files and pictures"),
  titles: t("Chat titles"),
  other: t("Other"),
};

/** What was used, by one dimension, the largest first. Nothing that is zero. */
export function rowsBy({ aggregates }: UsageAnswer, dimension: Dimension, measure: Measure): readonly UsageRow[] {
  const { byModel, byAgent, byChannel, byWork, bySession } = aggregates;
  const from = (rows: unknown, nameOf: (row: Readonly<Record<string, unknown>>) => string): readonly UsageRow[] =>
    (Array.isArray(rows) ? rows : []).map((row) => rowOf(object(row)["totals"], object(row)["count"], nameOf(object(row))));
  const rows: Readonly<Record<Dimension, () => readonly UsageRow[]>> = {
    model: () => from(byModel, (row) => [row["provider"], row["model"]].map(text).filter(Boolean).join("/")),
    agent: () => from(byAgent, (row) => text(row["agentId"]) || t("Unknown")),
    channel: () => from(byChannel, (row) => CHANNELS[text(row["channel"])] ?? (text(row["channel"]) || t("No channel"))),
    work: () => from(byWork, (row) => WORK[text(row["work"])] ?? text(row["work"])),
    session: () => [
      ...(bySession?.rows ?? []).map(({ key, name, count, totals }) => rowOf(totals, count, name === key ? readableKey(key) : name, key)),
      ...(bySession && bySession.others.sessions > 0 ? [rowOf(bySession.others.totals, 0, t`${bySession.others.sessions} other conversations`)] : []),
      ...(bySession && bySession.removed.sessions > 0 ? [rowOf(bySession.removed.totals, 0, t`${bySession.removed.sessions} removed conversations`)] : []),
    ],
  };
  return rows[dimension]()
    .filter(({ tokens, cost, calls }) => tokens > 0 || cost > 0 || calls > 0)
    .toSorted((a, b) => b[measure] - a[measure] || b.tokens - a.tokens);
}

/** A cell that spreadsheets take as text, whatever it begins with. */
function cell(value: string | number): string {
  if (typeof value === "number") return String(value);
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Every figure of the page: by day and model, and by each dimension. */
export function csvOf(usage: UsageAnswer): string {
  const head = ["dimension", "date", "name", "calls", "input", "output", "cached", "tokens", "cost_usd"];
  const days = (usage.aggregates.modelDaily ?? []).map(object).map((row) => {
    const name = [row["provider"], row["model"]].map(text).filter(Boolean).join("/");
    return ["day_model", text(row["date"]), name, figure(row["count"]), "", "", "", figure(row["tokens"]), figure(row["cost"])];
  });
  const parts = DIMENSIONS.flatMap((dimension) =>
    rowsBy(usage, dimension, "cost").map(({ name, calls, input, output, cached, tokens, cost }) => [
      dimension,
      "",
      name,
      calls,
      input,
      output,
      cached,
      tokens,
      cost,
    ]),
  );
  return `${[head, ...days, ...parts].map((line) => line.map(cell).join(",")).join("\r\n")}\r\n`;
}

export type BudgetState = MethodResult<"usage.budgets">["budgets"][number];

/** A budget as it is written in the configuration. */
export interface BudgetConfig {
  readonly per: "day" | "month";
  readonly usd?: number;
  readonly tokens?: number;
  readonly agent?: string;
  readonly sender?: string;
  readonly provider?: string;
  readonly warnAt?: number;
  readonly onLimit?: "stop" | "warn";
}

/** The budgets of the configuration. What is no budget is left out. */
export function configuredBudgets(config: unknown): readonly BudgetConfig[] {
  const list = object(object(config)["usage"])["budgets"];
  return (Array.isArray(list) ? list : []).filter((one): one is BudgetConfig => ["day", "month"].includes(text(object(one)["per"])));
}

/** Whom a budget counts. */
export function scopeWords({ agent, sender, provider }: Pick<BudgetConfig, "agent" | "sender" | "provider">): string {
  const of = (value: string | undefined, each: string, one: (name: string) => string): readonly string[] =>
    value === undefined ? [] : [value === "*" ? each : one(value)];
  const parts = [
    ...of(agent, t("each agent"), (name) => t`agent ${name}`),
    ...of(sender, t("each sender"), (name) => t`sender ${name}`),
    ...of(provider, t("each provider"), (name) => t`provider ${name}`),
  ];
  return parts.length === 0 ? t("Everything") : parts.join(", ");
}

/** What a form says about a new budget, or why it is none. */
export function parseBudget(form: Readonly<Record<"per" | "unit" | "limit" | "onLimit" | "agent", string>>): BudgetConfig | string {
  const limit = Number(form.limit.trim().replace(",", "."));
  if (form.limit.trim() === "" || !Number.isFinite(limit) || limit <= 0) return t("Enter a limit above 0.");
  if (form.unit === "tokens" && !Number.isInteger(limit)) return t("Enter a whole number of tokens.");
  const agent = form.agent.trim();
  return {
    per: form.per === "month" ? "month" : "day",
    ...(form.unit === "tokens" ? { tokens: limit } : { usd: limit }),
    ...(agent === "" ? {} : { agent }),
    ...(form.onLimit === "warn" ? { onLimit: "warn" } : {}),
  };
}
