import type { OpenClawConfig } from "../config/index.ts";

/** Agent ids as they are compared. */
export const agentKey = (id: string): string => id.trim().toLowerCase();

export interface Agents {
  readonly ids: ReadonlySet<string>;
  /** Answers where no binding says who. */
  readonly defaultId: string;
}

/** The configured agents; one called `main` when there are none. */
export function readAgents(config: OpenClawConfig): Agents {
  const list = config.agents?.list ?? [];
  const standard = list.find((agent) => agent.default === true) ?? list[0];
  return { ids: new Set(standard ? list.map(({ id }) => agentKey(id)) : ["main"]), defaultId: agentKey(standard?.id ?? "main") };
}
