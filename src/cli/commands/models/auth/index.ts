import type { Group } from "../../../command.ts";

const order: Group = {
  entries: [
    { name: "get", summary: "the agent's order of profiles for a provider", load: async () => (await import("./order.ts")).orderGet },
    { name: "set", summary: "try these profiles, in this order", load: async () => (await import("./order.ts")).orderSet },
    { name: "clear", summary: "back to the configured or automatic order", load: async () => (await import("./order.ts")).orderClear },
  ],
  examples: [{ line: "openclaw models auth order get --provider anthropic", does: "who is tried first" }],
};

export const auth: Group = {
  entries: [
    { name: "status", summary: "the stored credentials and how they are", load: async () => (await import("./status.ts")).status },
    { name: "clear", summary: "end rests: try credentials again that are left alone after failures", load: async () => (await import("./clear.ts")).clear },
    { name: "add", summary: "store an API key", load: async () => (await import("./add.ts")).add },
    { name: "login", summary: "log in to a provider: plugin, browser or device code", load: async () => (await import("./login.ts")).login },
    {
      name: "login-github-copilot",
      summary: "log in to GitHub Copilot with a device code",
      load: async () => (await import("./login-github-copilot.ts")).loginGithubCopilot,
    },
    { name: "setup-token", summary: "store a token made by `claude setup-token`", load: async () => (await import("./paste-token.ts")).setupToken },
    { name: "paste-token", summary: "store a token that was made elsewhere", load: async () => (await import("./paste-token.ts")).pasteToken },
    { name: "order", summary: "which profile is tried first", load: () => Promise.resolve(order) },
  ],
  fallback: "status",
  examples: [{ line: "openclaw models auth status", does: "what is stored, masked" }],
};
