import type { Group } from "../../command.ts";

export const plugins: Group = {
  entries: [
    { name: "list", summary: "all plugins: on or off, and why", load: async () => (await import("./list.ts")).list },
    { name: "info", summary: "everything known about one plugin", load: async () => (await import("./info.ts")).info },
    { name: "enable", summary: "turn a plugin on", load: async () => (await import("./enable.ts")).enable },
    { name: "disable", summary: "turn a plugin off", load: async () => (await import("./disable.ts")).disable },
    { name: "install", summary: "bring a plugin in: folder, archive or npm package", load: async () => (await import("./install.ts")).install },
    { name: "update", summary: "newer versions of plugins from npm", load: async () => (await import("./update.ts")).update },
    { name: "uninstall", summary: "take a plugin out", load: async () => (await import("./uninstall.ts")).uninstall },
    { name: "create", summary: "begin a plugin of your own", load: async () => (await import("./create.ts")).create },
    { name: "doctor", summary: "what is wrong with plugins and their settings", load: async () => (await import("./doctor.ts")).doctor },
    { name: "stats", summary: "calls, failures and times of the plugins that run", load: async () => (await import("./stats.ts")).stats },
    { name: "reload", summary: "reload one plugin's code and settings", load: async () => (await import("./reload.ts")).reload },
  ],
  fallback: "list",
  examples: [
    { line: "openclaw plugins list", does: "what is there, what is on" },
    { line: "openclaw plugins doctor", does: "what is wrong" },
  ],
};
