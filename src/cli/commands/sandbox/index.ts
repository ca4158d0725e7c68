import type { Group } from "../../command.ts";

export const sandbox: Group = {
  entries: [
    { name: "explain", summary: "whether a session's tools work inside, why, and what to change", load: async () => (await import("./explain.ts")).explain },
    { name: "list", summary: "the containers that were made", load: async () => (await import("./list.ts")).list },
    { name: "recreate", summary: "remove containers; they are made again when they are used", load: async () => (await import("./recreate.ts")).recreate },
  ],
  fallback: "explain",
  examples: [{ line: "openclaw sandbox explain", does: "the main session of the default agent" }],
};
