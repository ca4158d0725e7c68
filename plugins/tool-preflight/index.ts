import { definePluginEntry } from "openclaw/plugin-sdk/plugin-entry";

interface Settings {
  readonly tools?: readonly string[];
  readonly never?: readonly string[];
  readonly severity?: "info" | "warning" | "critical";
  readonly timeoutMs?: number;
  readonly timeoutBehavior?: "allow" | "deny";
}

/** Longest text of a parameter that the question shows. */
const SHOWN = 200;

function describe(params: Readonly<Record<string, unknown>>): string {
  const lines = Object.entries(params).map(([name, value]) => {
    const text = typeof value === "string" ? value : (JSON.stringify(value) ?? String(value));
    return `${name}: ${text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text}`;
  });
  return lines.length > 0 ? lines.join("\n") : "without parameters";
}

export default definePluginEntry({
  id: "tool-preflight",
  name: "Tool preflight",
  description: "Asks the operator before chosen tools run.",
  register(api) {
    // The manifest's schema was checked before this code was loaded.
    const { tools = ["web_search"], never = [], severity = "info", timeoutMs = 60_000, timeoutBehavior = "deny" } = (api.pluginConfig ?? {}) as Settings;
    api.on(
      "before_tool_call",
      (event) => {
        const { toolName } = event;
        if (never.includes(toolName)) return { block: true, blockReason: `${toolName} is on the list of blocked tools` };
        if (!tools.includes(toolName)) return undefined;
        return {
          requireApproval: {
            title: `Run ${toolName}?`,
            description: describe(event.params),
            severity,
            timeoutMs,
            timeoutBehavior,
            onResolution: (decision) => api.logger.info(`${toolName}: ${decision}`),
          },
        };
      },
      { priority: 50 },
    );
  },
});
