import type { Group } from "../../command.ts";

export const route: Group = {
  entries: [{ name: "explain", summary: "which agent answers a chat, in which session, and why", load: async () => (await import("./explain.ts")).explain }],
  examples: [{ line: "openclaw route explain --channel telegram --peer user:123", does: "who answers this person" }],
};
