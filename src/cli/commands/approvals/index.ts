import type { Group } from "../../command.ts";

const allowlist: Group = {
  entries: [
    { name: "add", summary: "a program that may run unasked", load: async () => (await import("./allowlist.ts")).add },
    { name: "remove", summary: "take one off the list", load: async () => (await import("./allowlist.ts")).remove },
  ],
  examples: [{ line: "openclaw approvals allowlist add '/usr/bin/git' --agent main", does: "git without asking, for one agent" }],
};

export const approvals: Group = {
  entries: [
    { name: "get", summary: "the rules for commands", load: async () => (await import("./get.ts")).get },
    { name: "set", summary: "put other rules in their place", load: async () => (await import("./set.ts")).set },
    { name: "allowlist", summary: "programs that may run unasked", load: () => Promise.resolve(allowlist) },
    { name: "remembered", summary: "commands that were allowed for good", load: async () => (await import("./remembered.ts")).remembered },
    { name: "forget", summary: "ask about a remembered command again", load: async () => (await import("./remembered.ts")).forget },
    { name: "pending", summary: "questions that wait for an answer", load: async () => (await import("./pending.ts")).pending },
    { name: "resolve", summary: "answer one", load: async () => (await import("./resolve.ts")).resolve },
  ],
  fallback: "get",
  examples: [
    { line: "openclaw approvals", does: "the rules on this machine" },
    { line: "openclaw approvals pending", does: "what waits for an answer" },
  ],
};
