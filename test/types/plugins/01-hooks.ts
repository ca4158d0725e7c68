import { definePluginEntry } from "openclaw/plugin-sdk/plugin-entry";

export default definePluginEntry({
  id: "tool-preflight",
  name: "Tool preflight",
  description: "Asks before dangerous commands run.",
  register(api) {
    api.on(
      "before_tool_call",
      async (event) => {
        if (event.toolName !== "exec") return undefined;
        const { command } = event.params;
        if (typeof command !== "string") return undefined;
        if (command.includes("rm -rf /")) return { block: true, blockReason: "never" };
        return { requireApproval: { title: "Run a command?", description: command, severity: "warning", timeoutMs: 60_000, timeoutBehavior: "deny" } };
      },
      { priority: 50, timeoutMs: 5000 },
    );
    api.on("message_sending", (event) => ({ content: event.content.trim() }));
    api.on("agent_end", (event) => api.logger.info(`turn ended: ${event.success}`));
    api.on("tool_result_persist", (event) => ({ message: event.message }));
    // @ts-expect-error there is no such hook
    api.on("before_lunch", () => {});
  },
});
