import type { Group } from "../../command.ts";

export const devices: Group = {
  entries: [
    { name: "list", summary: "devices that wait and devices that are in", load: async () => (await import("./list.ts")).list },
    { name: "approve", summary: "let a waiting device in", load: async () => (await import("./approve.ts")).approve },
    { name: "reject", summary: "turn a waiting device away", load: async () => (await import("./reject.ts")).reject },
    { name: "remove", summary: "forget a device and its tokens", load: async () => (await import("./remove.ts")).remove },
    { name: "rotate", summary: "give a device a new token", load: async () => (await import("./rotate.ts")).rotate },
    { name: "revoke", summary: "take a device's token away", load: async () => (await import("./revoke.ts")).revoke },
    { name: "clear", summary: "forget all other devices", load: async () => (await import("./clear.ts")).clear },
  ],
  examples: [{ line: "openclaw devices list", does: "who waits and who is in" }],
};
