import { createLazySubagents, type Subagents, type SubagentsDeps } from "../automation/index.ts";
import type { LazyModels } from "../models/index.ts";
import type { Plugins } from "../plugins/index.ts";
import type { Core } from "./core.ts";

export interface OpenSubagentsDeps extends Pick<SubagentsDeps, "conversation" | "delivery" | "deleteSession" | "killProcesses" | "changed"> {
  readonly core: Core;
  readonly plugins: Pick<Plugins, "hooks">;
  readonly models: Pick<LazyModels, "models" | "budgets">;
}

/** Work that agents hand to others. */
export function openSubagents(
  { core, plugins, conversation, delivery, models, deleteSession, killProcesses, changed }: OpenSubagentsDeps,
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
      async overspent(agentId, senderId) {
        if (!config.current.usage?.budgets?.length) return undefined;
        const { provider } = await select(agentId);
        const { state, text } = await (await models.budgets()).check({ agentId, provider, senderId });
        return state === "stop" ? text : undefined;
      },
      deleteSession,
      killProcesses,
      ...(changed ? { changed } : {}),
    }),
  );
}
