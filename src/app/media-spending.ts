import type { MediaSpending } from "../media/index.ts";
import type { LazyModels } from "../models/index.ts";
import type { Core } from "./core.ts";

/** Calls about files are counted under this name, like everything that is no answer. */
const CHANNEL = "media";
/** Clients of the gateway have no sender id. */
const CLIENTS = "webchat";

export function mediaSpending({ store, log }: Pick<Core, "store" | "log">, lazy: Pick<LazyModels, "budgets">): MediaSpending {
  return {
    async spent({ runId, senderId = CLIENTS, durationMs, cacheRead = 0, cacheWrite = 0, ...call }) {
      const row = { ...call, cacheRead, cacheWrite, durationMs: Math.round(durationMs), channel: CHANNEL, sender: senderId, turnId: runId };
      await store.write("usage.add", row).catch((error: unknown) => log.warn("the cost of a call about a file could not be stored", { error }));
    },
    async refusal({ agentId, sessionKey, senderId = CLIENTS, provider }) {
      const budget = await (await lazy.budgets()).check({ agentId, provider, senderId, sessionKey });
      return budget.state === "stop" ? budget.text : undefined;
    },
  };
}
