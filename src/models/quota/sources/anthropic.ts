import type { QuotaSource } from "../source.ts";
import { fieldsOf, numberOf, quotaWindow } from "../window.ts";

const WINDOWS = [
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
      windows: WINDOWS.flatMap(([name, label]) => {
        const { utilization, resets_at } = fieldsOf(answer[name]);
        return quotaWindow(label, numberOf(utilization), resets_at);
      }),
    };
  },
};
