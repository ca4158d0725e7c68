import type { Group } from "../../command.ts";

export const security: Group = {
  entries: [
    { name: "audit", summary: "what an attacker could use: settings, files, chats, plugins", load: async () => (await import("./audit.ts")).securityAudit },
  ],
  examples: [
    { line: "openclaw security audit", does: "what is risky, and what to do about it" },
    { line: "openclaw security audit --fix", does: "and the repairs that are safe to make" },
  ],
};
