import type { Group } from "../../command.ts";

const groups: Group = {
  entries: [
    { name: "list", summary: "groups that an account knows", load: async () => (await import("./list.ts")).groupsList },
    { name: "members", summary: "who is in a group", load: async () => (await import("./list.ts")).groupMembers },
  ],
  fallback: "list",
  examples: [],
};

const peers: Group = {
  entries: [{ name: "list", summary: "people that an account knows", load: async () => (await import("./list.ts")).peersList }],
  fallback: "list",
  examples: [],
};

export const directory: Group = {
  entries: [
    { name: "self", summary: "who the account itself is", load: async () => (await import("./list.ts")).self },
    { name: "peers", summary: "people", load: async () => peers },
    { name: "groups", summary: "groups, and who is in them", load: async () => groups },
  ],
  examples: [],
};
