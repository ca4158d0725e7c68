import type { Group } from "../../command.ts";

export const tools: Group = {
  entries: [
    { name: "explain", summary: "why a session has a tool, or not", load: async () => (await import("./explain.ts")).explain },
    { name: "list", summary: "the tools there are, their groups and where they come from", load: async () => (await import("./list.ts")).list },
  ],
  fallback: "explain",
  examples: [
    { line: "openclaw tools", does: "every tool of the main session, and what decided about it" },
    { line: "openclaw tools list", does: "the tools there are" },
  ],
};
