/** Every page that the menu has. */
export const PAGE_PATHS = [
  "chat",
  "overview",
  "trace",
  "sessions",
  "memory",
  "jobs",
  "subagents",
  "channels",
  "agents",
  "plugins",
  "devices",
  "config",
  "logs",
  "start",
] as const;
