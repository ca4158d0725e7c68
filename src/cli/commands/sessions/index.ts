import type { Group } from "../../command.ts";

export const sessions: Group = {
  entries: [
    { name: "list", summary: "List sessions, newest first", load: async () => (await import("./list.ts")).list },
    { name: "export", summary: "Export a conversation as Markdown, HTML or JSON Lines", load: async () => (await import("./export.ts")).exportCommand },
  ],
  fallback: "list",
  examples: [{ line: "openclaw sessions --active 60 --json", does: "Sessions of the last hour, as JSON" }],
};
