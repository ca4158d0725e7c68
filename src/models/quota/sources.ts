import { AppError } from "../../base/errors.ts";
import type { Ask, QuotaAccess, QuotaSource } from "./source.ts";
import { fieldsOf, listOf, numberOf, quotaWindow, textOf, usedOfFraction, type Fields, type QuotaWindow } from "./window.ts";

const ANTHROPIC_WINDOWS = [
  ["five_hour", "5h"],
  ["seven_day", "Week"],
  ["seven_day_sonnet", "Sonnet"],
  ["seven_day_opus", "Opus"],
] as const;

/** Subscriptions only: an API key is billed by use and has no allowance. */
export const anthropicQuota: QuotaSource = {
  provider: "anthropic",
  displayName: "Claude",
  types: ["oauth", "token"],
  async load({ token }, ask) {
    const answer = fieldsOf(
      await ask({
        url: "https://api.anthropic.com/api/oauth/usage",
        headers: { authorization: `Bearer ${token}`, "anthropic-version": "2023-06-01", "anthropic-beta": "oauth-2025-04-20" },
      }),
    );
    return {
      windows: ANTHROPIC_WINDOWS.flatMap(([name, label]) => {
        const { utilization, resets_at } = fieldsOf(answer[name]);
        return quotaWindow(label, numberOf(utilization), resets_at);
      }),
    };
  },
};

const HOUR_S = 3600;
const DEFAULT_S = { primary: 3 * HOUR_S, secondary: 24 * HOUR_S } as const;

function lengthLabel(seconds: number): string {
  const hours = Math.round(seconds / HOUR_S);
  if (hours >= 168) return "Week";
  return hours >= 24 ? "Day" : `${hours}h`;
}

function codexWindow(value: unknown, defaultSeconds: number): readonly QuotaWindow[] {
  const { limit_window_seconds, used_percent, reset_at } = fieldsOf(value);
  return quotaWindow(lengthLabel(numberOf(limit_window_seconds) ?? defaultSeconds), numberOf(used_percent), reset_at);
}

function planOf(plan: string | undefined, balance: number | undefined): string | undefined {
  const credits = balance === undefined ? undefined : `$${balance.toFixed(2)}`;
  return plan !== undefined && credits !== undefined ? `${plan} (${credits})` : (plan ?? credits);
}

export const codexQuota: QuotaSource = {
  provider: "openai-codex",
  displayName: "Codex",
  types: ["oauth", "token"],
  async load({ token, accountId }, ask) {
    const answer = fieldsOf(
      await ask({
        url: "https://chatgpt.com/backend-api/wham/usage",
        headers: { authorization: `Bearer ${token}`, ...(accountId === undefined ? {} : { "chatgpt-account-id": accountId }) },
      }),
    );
    const limits = fieldsOf(answer["rate_limit"]);
    const plan = planOf(textOf(answer["plan_type"]), numberOf(fieldsOf(answer["credits"])["balance"]));
    return {
      windows: [...codexWindow(limits["primary_window"], DEFAULT_S.primary), ...codexWindow(limits["secondary_window"], DEFAULT_S.secondary)],
      ...(plan === undefined ? {} : { plan }),
    };
  },
};

const COPILOT_WINDOWS = [
  ["premium_interactions", "Premium"],
  ["chat", "Chat"],
] as const;

/** Uses the GitHub token itself, not the exchanged one. */
export const copilotQuota: QuotaSource = {
  provider: "github-copilot",
  displayName: "Copilot",
  types: ["oauth", "token"],
  async load({ token }, ask) {
    const answer = fieldsOf(
      await ask({
        url: "https://api.github.com/copilot_internal/user",
        headers: { authorization: `token ${token}`, "x-github-api-version": "2025-04-01" },
      }),
    );
    const snapshots = fieldsOf(answer["quota_snapshots"]);
    const plan = textOf(answer["copilot_plan"]);
    return {
      windows: COPILOT_WINDOWS.flatMap(([name, label]) => {
        const left = numberOf(fieldsOf(snapshots[name])["percent_remaining"]);
        return quotaWindow(label, left === undefined ? undefined : 100 - left, answer["quota_reset_date"]);
      }),
      ...(plan === undefined ? {} : { plan }),
    };
  },
};

const GOOGLE_BASE = "https://cloudcode-pa.googleapis.com/v1internal";
const MOST_MODELS = 10;

const bearer = ({ token }: QuotaAccess): Readonly<Record<string, string>> => ({ authorization: `Bearer ${token}` });

/** Of several models of a family the one with the least left. */
function family(buckets: readonly unknown[], label: string, pattern: RegExp): readonly QuotaWindow[] {
  const left = buckets
    .map(fieldsOf)
    .filter(({ modelId }) => pattern.test(textOf(modelId) ?? ""))
    .flatMap((bucket) => {
      const fraction = numberOf(bucket["remainingFraction"]);
      return fraction === undefined ? [] : [{ fraction, resetTime: bucket["resetTime"] }];
    })
    .sort((a, b) => a.fraction - b.fraction)[0];
  return quotaWindow(label, usedOfFraction(left?.fraction), left?.resetTime);
}

export const geminiCliQuota: QuotaSource = {
  provider: "google-gemini-cli",
  displayName: "Gemini",
  types: ["oauth", "token"],
  async load(access, ask) {
    const body = access.projectId === undefined ? {} : { project: access.projectId };
    const buckets = listOf(fieldsOf(await ask({ url: `${GOOGLE_BASE}:retrieveUserQuota`, headers: bearer(access), body }))["buckets"]);
    return { windows: [...family(buckets, "Pro", /pro/i), ...family(buckets, "Flash", /flash/i)] };
  },
};

function creditsOf(account: Fields): readonly QuotaWindow[] {
  const left = numberOf(account["availablePromptCredits"]);
  const monthly = numberOf(fieldsOf(account["planInfo"])["monthlyPromptCredits"]);
  return left === undefined || monthly === undefined || monthly <= 0 ? [] : quotaWindow("Credits", usedOfFraction(left / monthly));
}

async function modelWindows(access: QuotaAccess, project: string | undefined, ask: Ask): Promise<readonly QuotaWindow[]> {
  const answer = fieldsOf(await ask({ url: `${GOOGLE_BASE}:fetchAvailableModels`, headers: bearer(access), body: project === undefined ? {} : { project } }));
  return Object.entries(fieldsOf(answer["models"]))
    .flatMap(([id, model]) => {
      const { remainingFraction, resetTime } = fieldsOf(fieldsOf(model)["quotaInfo"]);
      return quotaWindow(id, usedOfFraction(numberOf(remainingFraction)), resetTime);
    })
    .sort((a, b) => b.usedPercent - a.usedPercent || (a.label < b.label ? -1 : 1))
    .slice(0, MOST_MODELS);
}

export const antigravityQuota: QuotaSource = {
  provider: "google-antigravity",
  displayName: "Antigravity",
  types: ["oauth", "token"],
  async load(access, ask) {
    const account = fieldsOf(await ask({ url: `${GOOGLE_BASE}:loadCodeAssist`, headers: bearer(access), body: {} }));
    const named = account["cloudaicompanionProject"];
    const project = access.projectId ?? textOf(named) ?? textOf(fieldsOf(named)["id"]);
    const tier = fieldsOf(account["currentTier"]);
    const plan = textOf(tier["name"]) ?? textOf(tier["id"]);
    return { windows: [...creditsOf(account), ...(await modelWindows(access, project, ask))], ...(plan === undefined ? {} : { plan }) };
  },
};

/** The used amount, from the total and the remainder; from a percentage where the counts are zero. */
function minimaxWindow(plan: Fields, name: "interval" | "weekly", label: string, resetAt: unknown): readonly QuotaWindow[] {
  const total = numberOf(plan[`current_${name}_total_count`]);
  // Despite its name this counts what is left.
  const left = numberOf(plan[`current_${name}_usage_count`]);
  if (total !== undefined && total > 0 && left !== undefined) return quotaWindow(label, usedOfFraction(left / total), resetAt);
  const percent = numberOf(plan[`current_${name}_remaining_percent`]);
  return quotaWindow(label, percent === undefined ? undefined : 100 - percent, resetAt);
}

/** The coding plan's five-hour window. */
export const minimaxQuota: QuotaSource = {
  provider: "minimax",
  displayName: "MiniMax",
  types: ["api_key"],
  env: ["MINIMAX_CODE_PLAN_KEY"],
  async load({ token }, ask) {
    const answer = fieldsOf(
      await ask({ url: "https://api.minimaxi.com/v1/api/openplatform/coding_plan/remains", headers: { authorization: `Bearer ${token}` } }),
    );
    const { status_code: code, status_msg: reason } = fieldsOf(answer["base_resp"]);
    if (code !== undefined && code !== 0) throw new AppError("UNAVAILABLE", textOf(reason) ?? `it responded with ${numberOf(code) ?? "something else"}`);
    const data = Object.keys(fieldsOf(answer["data"])).length > 0 ? fieldsOf(answer["data"]) : answer;
    const plan = fieldsOf(listOf(data["model_remains"])[0] ?? data);
    return { windows: [...minimaxWindow(plan, "interval", "5h", plan["end_time"]), ...minimaxWindow(plan, "weekly", "Week", plan["weekly_end_time"])] };
  },
};

const ZAI_UNITS: Readonly<Record<number, string>> = { 1: "d", 3: "h", 5: "m", 6: "w" };

function zaiWindow(value: unknown): readonly QuotaWindow[] {
  const { type, unit, number, percentage, nextResetTime } = fieldsOf(value);
  const length = `${numberOf(number) ?? ""}${ZAI_UNITS[numberOf(unit) ?? 0] ?? ""}`;
  if (type === "TOKENS_LIMIT") return quotaWindow(length === "" ? "Tokens" : `Tokens (${length})`, numberOf(percentage), nextResetTime);
  return type === "TIME_LIMIT" ? quotaWindow("Monthly", numberOf(percentage), nextResetTime) : [];
}

/** A refusal comes with status 200. */
export const zaiQuota: QuotaSource = {
  provider: "zai",
  displayName: "z.ai",
  types: ["api_key", "token"],
  async load({ token }, ask) {
    const answer = fieldsOf(await ask({ url: "https://api.z.ai/api/monitor/usage/quota/limit", headers: { authorization: `Bearer ${token}` } }));
    if (answer["success"] === false || (answer["code"] !== undefined && answer["code"] !== 200)) {
      throw new AppError("UNAVAILABLE", textOf(answer["msg"]) ?? "it refused without a reason");
    }
    const data = fieldsOf(answer["data"]);
    const plan = textOf(data["planName"]) ?? textOf(data["plan"]) ?? textOf(data["level"]);
    return { windows: listOf(data["limits"]).flatMap(zaiWindow), ...(plan === undefined ? {} : { plan }) };
  },
};

/** It has no such endpoint. */
export const xiaomiQuota: QuotaSource = { provider: "xiaomi", displayName: "Xiaomi", types: ["api_key"], load: async () => ({ windows: [] }) };
