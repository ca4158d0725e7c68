import type { OpenClawConfig } from "../../../config/index.ts";

/** An agent, as the OpenAI API shows models. */
export interface Model {
  readonly id: string;
  readonly object: "model";
  readonly created: number;
  readonly owned_by: "openclaw";
}

/** Ids of the configured agents, lower case, first the one that answers when none is named. */
export function agentIds(config: OpenClawConfig): readonly [string, ...string[]] {
  const ids = [...new Set((config.agents?.list ?? []).map(({ id }) => id.trim().toLowerCase()))].filter((id) => id !== "");
  const chosen = config.agents?.list
    ?.find((agent) => agent.default === true)
    ?.id.trim()
    .toLowerCase();
  const first = ids.length === 0 || ids.includes("main") ? "main" : (chosen ?? ids[0] ?? "main");
  return [first, ...ids.filter((id) => id !== first)];
}

const model = (id: string): Model => ({ id, object: "model", created: 0, owned_by: "openclaw" });

/** `openclaw`, then one for each agent. */
export function listModels(config: OpenClawConfig): { readonly object: "list"; readonly data: readonly Model[] } {
  return { object: "list", data: [model("openclaw"), ...agentIds(config).map((id) => model(`openclaw:${id}`))] };
}

export function modelNamed(config: OpenClawConfig, id: string): Model | undefined {
  return listModels(config).data.find((known) => known.id === id);
}
