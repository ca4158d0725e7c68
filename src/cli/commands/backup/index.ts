import type { Group } from "../../command.ts";

export const backup: Group = {
  entries: [
    { name: "create", summary: "make a backup, also while the gateway runs", load: async () => (await import("./create.ts")).create },
    { name: "verify", summary: "read a backup and compare every hash", load: async () => (await import("./verify.ts")).verify },
    { name: "restore", summary: "bring a backup back; what was there is kept", load: async () => (await import("./restore.ts")).restore },
  ],
  examples: [
    { line: "openclaw backup create", does: "into the current folder" },
    { line: "openclaw backup verify openclaw-backup-….tar.gz", does: "is it whole?" },
  ],
};
