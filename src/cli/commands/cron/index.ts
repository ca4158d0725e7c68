import type { Group } from "../../command.ts";

export const cron: Group = {
  entries: [
    { name: "status", summary: "whether jobs run, and when the next one is due", load: async () => (await import("./show.ts")).status },
    { name: "list", summary: "all jobs, with their next and last run", load: async () => (await import("./show.ts")).list },
    { name: "add", summary: "schedule a job", load: async () => (await import("./change.ts")).add },
    { name: "create", summary: "the same as add", load: async () => (await import("./change.ts")).add },
    { name: "edit", summary: "change a job", load: async () => (await import("./change.ts")).edit },
    { name: "enable", summary: "let a job run again", load: async () => (await import("./change.ts")).enable },
    { name: "disable", summary: "stop running a job", load: async () => (await import("./change.ts")).disable },
    { name: "rm", summary: "remove a job", load: async () => (await import("./change.ts")).remove },
    { name: "remove", summary: "the same as rm", load: async () => (await import("./change.ts")).remove },
    { name: "run", summary: "run a job now", load: async () => (await import("./change.ts")).run },
    { name: "runs", summary: "how the last runs of a job went", load: async () => (await import("./show.ts")).runs },
    { name: "next", summary: "when an expression matches next", load: async () => (await import("./show.ts")).next },
  ],
  examples: [
    { line: "openclaw cron list", does: "all jobs" },
    { line: 'openclaw cron next "0 9 * * 1-5" --tz Europe/Berlin', does: "the next times of an expression" },
  ],
};
