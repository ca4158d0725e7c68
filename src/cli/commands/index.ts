import type { Entry } from "../command.ts";

/** Every command, in the order the help shows them. Each is loaded only when it is called. */
export const COMMANDS: readonly Entry[] = [
  { name: "gateway", summary: "run the gateway in the foreground", load: async () => (await import("./gateway.ts")).gateway },
  { name: "status", summary: "is it running, is it well, what does it hold", load: async () => (await import("./status.ts")).status },
  { name: "config", summary: "read, check and change the configuration", load: async () => (await import("./config/index.ts")).config },
  { name: "sessions", summary: "list the sessions", load: async () => (await import("./sessions.ts")).sessions },
  { name: "logs", summary: "show and follow the log", load: async () => (await import("./logs.ts")).logs },
  { name: "backup", summary: "create, verify and restore backups of the state", load: async () => (await import("./backup/index.ts")).backup },
];
