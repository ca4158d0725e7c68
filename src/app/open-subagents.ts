import { createLazySubagents, type Subagents, type SubagentsDeps } from "../automation/index.ts";
import type { LazyModels } from "../models/index.ts";
import type { Plugins } from "../plugins/index.ts";
import type { Core } from "./core.ts";

export interface OpenSubagentsDeps extends Pick<
  SubagentsDeps,
  "conversation" | "delivery" | "deleteSession" | "killProcesses" | "runningCommands" | "changed"
> {
  readonly core: Core;
  readonly plugins: Pick<Plugins, "hooks">;
  readonly models: Pick<LazyModels, "models" | "budgets">;
}

/** Clients of the gateway have no sender id; they count together. */
const CLIENTS = "webchat";

/** Work that agents hand to others. */
export function openSubagents(
  { core, plugins, conversation, delivery, models, deleteSession, killProcesses, runningCommands, changed }: OpenSubagentsDeps,
  stack: AsyncDisposableStack,
): Subagents {
  const { config, store, clock, ids } = core;
  const select = async (agentId: string, override?: string) =>
    (await (await models.models()).select({ agentId, ...(override === undefined ? {} : { override }) })).entry;
  return stack.use(
    createLazySubagents({
      config,
      store,
      clock,
      ids,
      log: core.log.subsystem("automation"),
      hooks: plugins.hooks,
      conversation,
      delivery,
      model: select,
      async budgets({ agentId, senderId = CLIENTS, provider: chosen, requesterSessionKey: sessionKey }) {
        if (!config.current.usage?.budgets?.length) return [];
        const provider = chosen ?? (await select(agentId)).provider;
        const budgets = await models.budgets();
        const { state, text } = await budgets.check({ agentId, provider, senderId, sessionKey });
        return state === "stop" ? text : budgets.shared({ agentId, provider, senderId });
      },
      deleteSession,
      killProcesses,
      runningCommands,
      ...(changed ? { changed } : {}),
    }),
  );
}
