import { count, group, text, texts, whole } from "../pieces.ts";
import { modelRef } from "../parts.ts";

const chosen = { model: modelRef("Model of subagents; the agent's own when absent."), thinking: text("Thinking level of subagents.") };

export const subagentDefaults = group("Background runs that an agent starts.", {
  maxConcurrent: count("Runs at the same time."),
  maxSpawnDepth: whole("How deep subagents may start subagents.", { minimum: 1, maximum: 5 }),
  maxChildrenPerAgent: whole("Running children of one session.", { minimum: 1, maximum: 20 }),
  archiveAfterMinutes: count("Archive a finished run's session after this long."),
  ...chosen,
});

export const agentSubagents = group("Background runs that this agent starts.", {
  allowAgents: texts("Agents it may start; * is any."),
  ...chosen,
});
