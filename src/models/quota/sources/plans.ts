import { AppError } from "../../../base/errors.ts";
import type { QuotaSource } from "../source.ts";
import { fieldsOf, listOf, numberOf, quotaWindow, textOf, usedOfFraction, type Fields, type QuotaWindow } from "../window.ts";

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
    if (code !== undefined && code !== 0) throw new AppError("UNAVAILABLE", textOf(reason) ?? `it answers ${numberOf(code) ?? "something else"}`);
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
      throw new AppError("UNAVAILABLE", textOf(answer["msg"]) ?? "it refused without a word");
    }
    const data = fieldsOf(answer["data"]);
    const plan = textOf(data["planName"]) ?? textOf(data["plan"]) ?? textOf(data["level"]);
    return { windows: listOf(data["limits"]).flatMap(zaiWindow), ...(plan === undefined ? {} : { plan }) };
  },
};

/** It has no such endpoint; listed so that nobody looks for it. */
export const xiaomiQuota: QuotaSource = { provider: "xiaomi", displayName: "Xiaomi", types: ["api_key"], load: async () => ({ windows: [] }) };
