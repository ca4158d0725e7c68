import type { BeforeAgentFinalizeResult } from "./events/index.ts";

/** Most passes for one request, whatever it asks for. */
const HOST_CAP = 3;
/** Most passes of a run for all requests together, so that it ends even when every request has a new key. */
const RUN_CAP = 9;

/** Whether a model gets another pass. */
export type RetryDecision =
  | { readonly retry: true; readonly attempt: number; /** For the model: the reason and what to do. */ readonly instruction: string }
  | { readonly retry: false; readonly why: "finalize" | "attempts" | "run" };

/** Counts the passes that plugins request in one run. */
export interface FinalizeRetries {
  /** Processes a plugin's decision of `before_agent_finalize`. */
  take(pluginId: string, decision: BeforeAgentFinalizeResult): RetryDecision;
}

export function createFinalizeRetries(): FinalizeRetries {
  const attempts = new Map<string, number>();
  let total = 0;
  return {
    take(pluginId, decision) {
      if (decision.action === "finalize") return { retry: false, why: "finalize" };
      const { retry } = decision;
      const key = JSON.stringify([pluginId, retry?.idempotencyKey ?? ""]);
      const used = attempts.get(key) ?? 0;
      const own = Number.isInteger(retry?.maxAttempts) ? Math.max(0, retry!.maxAttempts!) : HOST_CAP;
      if (used >= Math.min(own, HOST_CAP)) return { retry: false, why: "attempts" };
      if (total >= RUN_CAP) return { retry: false, why: "run" };
      attempts.set(key, used + 1);
      total += 1;
      const instruction = [decision.reason, retry?.instruction].filter((text) => typeof text === "string" && text !== "").join("\n\n");
      return { retry: true, attempt: used + 1, instruction };
    },
  };
}
