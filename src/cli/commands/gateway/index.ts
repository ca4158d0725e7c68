import type { Group } from "../../command.ts";

export const gateway: Group = {
  entries: [
    { name: "run", summary: "run the gateway in the foreground", load: async () => (await import("./run.ts")).run },
    { name: "status", summary: "the service, the process and whether it answers", load: async () => (await import("./status.ts")).status },
    { name: "health", summary: "how it is, in one line", load: async () => (await import("./health.ts")).health },
    { name: "probe", summary: "which gateways answer: the local one and the remote one", load: async () => (await import("./probe.ts")).probe },
    { name: "call", summary: "call any method", load: async () => (await import("./call.ts")).call },
    { name: "install", summary: "let it start with the machine, as a service", load: async () => (await import("./install.ts")).install },
    { name: "uninstall", summary: "remove the service", load: async () => (await import("./uninstall.ts")).uninstall },
    { name: "start", summary: "start the service", load: async () => (await import("./start.ts")).start },
    { name: "stop", summary: "stop the gateway, or its service", load: async () => (await import("./stop.ts")).stop },
    { name: "restart", summary: "restart the gateway, or its service", load: async () => (await import("./restart.ts")).restart },
    { name: "usage-cost", summary: "what was used and what it cost, by day", load: async () => (await import("./usage-cost.ts")).usageCost },
    { name: "discover", summary: "which gateways the local network knows", load: async () => (await import("./discover.ts")).discover },
  ],
  fallback: "run",
  examples: [
    { line: "openclaw gateway", does: "run until Ctrl-C" },
    { line: "openclaw gateway status", does: "is it there, does it answer" },
  ],
};
