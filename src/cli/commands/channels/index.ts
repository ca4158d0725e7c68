import type { Group } from "../../command.ts";

export const channels: Group = {
  entries: [
    { name: "list", summary: "the configured accounts, and the logins of model providers", load: async () => (await import("./list.ts")).list },
    { name: "status", summary: "how each account is, and what to do about it", load: async () => (await import("./status.ts")).status },
    { name: "add", summary: "set up an account", load: async () => (await import("./add.ts")).add },
    { name: "remove", summary: "turn an account off, or delete it", load: async () => (await import("./remove.ts")).remove },
    { name: "login", summary: "sign an account in", load: async () => (await import("./login.ts")).login },
    { name: "logout", summary: "sign an account out", load: async () => (await import("./logout.ts")).logout },
    { name: "start", summary: "start an account that was stopped", load: async () => (await import("./run.ts")).start },
    { name: "stop", summary: "stop an account; what is to be sent over it waits", load: async () => (await import("./run.ts")).stop },
    { name: "restart", summary: "reconnect an account", load: async () => (await import("./run.ts")).restart },
    { name: "capabilities", summary: "what each channel can do", load: async () => (await import("./capabilities.ts")).capabilities },
    { name: "logs", summary: "what channels logged", load: async () => (await import("./logs.ts")).logs },
    { name: "resolve", summary: "ids of people and groups, by their names", load: async () => (await import("./resolve.ts")).resolve },
  ],
  fallback: "status",
  examples: [
    { line: "openclaw channels status", does: "how each account is" },
    { line: "openclaw channels list --no-usage", does: "what is configured" },
  ],
};
