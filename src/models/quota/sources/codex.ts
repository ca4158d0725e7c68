import type { QuotaSource } from "../source.ts";
import { fieldsOf, numberOf, quotaWindow, textOf, type QuotaWindow } from "../window.ts";

const HOUR_S = 3600;
const DEFAULT_S = { primary: 3 * HOUR_S, secondary: 24 * HOUR_S } as const;

function lengthLabel(seconds: number): string {
  const hours = Math.round(seconds / HOUR_S);
  if (hours >= 168) return "Week";
  return hours >= 24 ? "Day" : `${hours}h`;
}

function windowOf(value: unknown, defaultSeconds: number): readonly QuotaWindow[] {
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
      windows: [...windowOf(limits["primary_window"], DEFAULT_S.primary), ...windowOf(limits["secondary_window"], DEFAULT_S.secondary)],
      ...(plan === undefined ? {} : { plan }),
    };
  },
};
