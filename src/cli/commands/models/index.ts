import type { Group } from "../../command.ts";

const fallbacks = async (kind: "model" | "imageModel") => (await import("./fallbacks.ts")).fallbackCommands(kind);

export const models: Group = {
  entries: [
    { name: "status", summary: "which model answers, why, and whether it can be reached", load: async () => (await import("./status.ts")).status },
    { name: "list", summary: "the configured models, or all that are known", load: async () => (await import("./list.ts")).list },
    { name: "set", summary: "choose the default model", load: async () => (await import("./set.ts")).set },
    { name: "set-image", summary: "choose the model that looks at images", load: async () => (await import("./set.ts")).setImage },
    { name: "aliases", summary: "short names of models", load: async () => (await import("./aliases.ts")).aliases },
    { name: "fallbacks", summary: "models to go on with when the default fails", load: () => fallbacks("model") },
    { name: "image-fallbacks", summary: "the same for the image model", load: () => fallbacks("imageModel") },
    { name: "scan", summary: "find free models at OpenRouter and try them", load: async () => (await import("./scan.ts")).scan },
    { name: "budgets", summary: "how much of each budget is used", load: async () => (await import("./budgets.ts")).budgets },
    { name: "auth", summary: "credentials: store, log in, order", load: async () => (await import("./auth/index.ts")).auth },
  ],
  fallback: "status",
  examples: [
    { line: "openclaw models", does: "which model answers, and why" },
    { line: "openclaw models list --all --provider anthropic", does: "every known model of one provider" },
  ],
};
