import { defaultAgentId, type OpenClawConfig } from "../config/index.ts";

/** Agent ids in comparable form. */
export const agentKey = (id: string): string => id.trim().toLowerCase();

export interface Agents {
  readonly ids: ReadonlySet<string>;
  /** Answers where no binding matches. */
  readonly defaultId: string;
}

/** The configured agents; one called `main` when there are none. */
export function readAgents(config: OpenClawConfig): Agents {
  const list = config.agents?.list ?? [];
  return { ids: new Set(list.length > 0 ? list.map(({ id }) => agentKey(id)) : ["main"]), defaultId: defaultAgentId(config) };
}
