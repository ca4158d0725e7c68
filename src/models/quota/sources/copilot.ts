import type { QuotaSource } from "../source.ts";
import { fieldsOf, numberOf, quotaWindow, textOf } from "../window.ts";

const WINDOWS = [
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
      windows: WINDOWS.flatMap(([name, label]) => {
        const left = numberOf(fieldsOf(snapshots[name])["percent_remaining"]);
        return quotaWindow(label, left === undefined ? undefined : 100 - left, answer["quota_reset_date"]);
      }),
      ...(plan === undefined ? {} : { plan }),
    };
  },
};
