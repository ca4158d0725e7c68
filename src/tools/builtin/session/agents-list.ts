import { defineTool } from "../../declaration.ts";
import { jsonOutcome } from "../../tool.ts";
import type { SessionToolsDeps } from "./deps.ts";

/** Which agents `sessions_spawn` may use. */
export const agentsListTool = defineTool<Pick<SessionToolsDeps, "config">>({
  name: "agents_list",
  groups: ["openclaw"],
  reach: {},
  promptLine: "list the available agents",
  icon: "🧭",
  subagents: "never",
  label: "Agents",
  description: "List the agents that sessions_spawn may start, the calling agent first.",
  parameters: { type: "object", properties: {} },
  idempotent: true,
  executionMode: "parallel",
  run:
    ({ config }) =>
    ({ context }) => {
      const list = config().agents?.list ?? [];
      const requester = context.agentId.toLowerCase();
      const known = new Map(list.map(({ id, name }) => [id.toLowerCase(), name]));
      const wanted = (list.find(({ id }) => id.toLowerCase() === requester)?.subagents?.allowAgents ?? []).map((id) => id.trim().toLowerCase());
      const allowAny = wanted.includes("*");
      const others = new Set([...(allowAny ? known.keys() : []), ...wanted.filter((id) => id !== "*" && id !== "")]);
      others.delete(requester);
      const agents = [requester, ...[...others].sort()].map((id) => {
        const name = known.get(id)?.trim();
        return { id, ...(name ? { name } : {}), configured: known.has(id) };
      });
      return Promise.resolve(jsonOutcome({ requester, allowAny, agents }));
    },
});
