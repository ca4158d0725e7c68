import type { Group } from "../../command.ts";

export const pairing: Group = {
  entries: [
    { name: "list", summary: "senders that wait to be let in", load: async () => (await import("./list.ts")).list },
    { name: "approve", summary: "let the sender in that holds a code", load: async () => (await import("./approve.ts")).approve },
    { name: "reject", summary: "turn the sender away that holds a code", load: async () => (await import("./reject.ts")).reject },
    { name: "owner", summary: "who may do everything from a chat", load: async () => (await import("./owner.ts")).owner },
    { name: "allowed", summary: "who may write, and who says so", load: async () => (await import("./allowed.ts")).allowed },
    { name: "revoke", summary: "remove a sender from the approved ones", load: async () => (await import("./revoke.ts")).revoke },
  ],
  examples: [{ line: "openclaw pairing approve telegram ABCD2345", does: "let in who was given this code" }],
};
