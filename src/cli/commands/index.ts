import type { Entry } from "../command.ts";

/** Every command, in the order the help shows them. Each is loaded only when it is called. */
export const COMMANDS: readonly Entry[] = [
  { name: "gateway", summary: "run the gateway, look at it, make it a service", load: async () => (await import("./gateway/index.ts")).gateway },
  { name: "status", summary: "is it running, is it well, what does it hold", load: async () => (await import("./status.ts")).status },
  { name: "health", summary: "agents, channels and sessions of the running gateway", load: async () => (await import("./health.ts")).health },
  { name: "dashboard", summary: "open the control page in the browser", load: async () => (await import("./dashboard.ts")).dashboard },
  { name: "devices", summary: "who may connect: approve, revoke, rotate", load: async () => (await import("./devices/index.ts")).devices },
  { name: "pairing", summary: "who may write on a channel: list and approve codes", load: async () => (await import("./pairing/index.ts")).pairing },
  { name: "approvals", summary: "which commands may run: rules, and open questions", load: async () => (await import("./approvals/index.ts")).approvals },
  { name: "agent", summary: "one turn of an agent, and its answer", load: async () => (await import("./agent/index.ts")).agent },
  { name: "call", summary: "call any method of the gateway", load: async () => (await import("./gateway/call.ts")).call },
  { name: "config", summary: "read, check and change the configuration", load: async () => (await import("./config/index.ts")).config },
  { name: "channels", summary: "accounts of chat platforms: set up, look at, sign in", load: async () => (await import("./channels/index.ts")).channels },
  { name: "route", summary: "which agent answers a chat, in which session, and why", load: async () => (await import("./route/index.ts")).route },
  { name: "message", summary: "send, react, read: act in chats", load: async () => (await import("./message/index.ts")).message },
  { name: "why", summary: "what became of a message, and why", load: async () => (await import("./why/index.ts")).why },
  { name: "models", summary: "choose models, see which can be reached", load: async () => (await import("./models/index.ts")).models },
  { name: "tools", summary: "which tools a session has, and why", load: async () => (await import("./tools/index.ts")).tools },
  { name: "sandbox", summary: "where a session's commands run, and its containers", load: async () => (await import("./sandbox/index.ts")).sandbox },
  { name: "plugins", summary: "list, check and switch plugins", load: async () => (await import("./plugins/index.ts")).plugins },
  { name: "sessions", summary: "list the sessions", load: async () => (await import("./sessions.ts")).sessions },
  { name: "logs", summary: "show and follow the log", load: async () => (await import("./logs.ts")).logs },
  { name: "backup", summary: "create, verify and restore backups of the state", load: async () => (await import("./backup/index.ts")).backup },
];
