import type { OpenClawConfig } from "./schema/index.ts";

/** The agent that answers where nothing names one: the one marked so, else the first, else `main`. As ids are compared: without spaces, in lower case. */
export function defaultAgentId(config: OpenClawConfig): string {
  const list = config.agents?.list ?? [];
  return (list.find((agent) => agent.default === true) ?? list[0])?.id.trim().toLowerCase() ?? "main";
}
