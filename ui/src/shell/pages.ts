import type { IconName } from "../look/icons.ts";

/** A page of the UI: where it is, what it is called, and how its code comes. */
export interface PageEntry {
  readonly path: string;
  readonly title: string;
  readonly icon: IconName;
  /** The element's name. */
  readonly tag: string;
  /** Loads the element's code; without it the code is there. */
  readonly load?: () => Promise<unknown>;
  /** Not in the menu. */
  readonly hidden?: boolean;
  /** It fills the window and scrolls by itself. */
  readonly full?: boolean;
}

export const PAGES: readonly PageEntry[] = [
  { path: "chat", title: "Chat", icon: "chat", tag: "oc-chat-page", full: true },
  { path: "overview", title: "Overview", icon: "overview", tag: "oc-overview-page", load: () => import("../pages/overview/overview-page.ts") },
  { path: "trace", title: "Trace", icon: "trace", tag: "oc-trace-page", load: () => import("../pages/trace/trace-page.ts") },
  { path: "sessions", title: "Sessions", icon: "sessions", tag: "oc-sessions-page", load: () => import("../pages/sessions/sessions-page.ts") },
  { path: "memory", title: "Memory", icon: "memory", tag: "oc-memory-page", load: () => import("../pages/memory/memory-page.ts") },
  { path: "jobs", title: "Jobs", icon: "clock", tag: "oc-jobs-page", load: () => import("../pages/jobs/jobs-page.ts") },
  { path: "subagents", title: "Sub-agents", icon: "tree", tag: "oc-subagents-page", load: () => import("../pages/subagents/subagents-page.ts") },
  { path: "channels", title: "Channels", icon: "channels", tag: "oc-channels-page", load: () => import("../pages/channels/channels-page.ts") },
  { path: "agents", title: "Agents", icon: "agents", tag: "oc-agents-page", load: () => import("../pages/agents/agents-page.ts") },
  { path: "plugins", title: "Plugins", icon: "plugins", tag: "oc-plugins-page", load: () => import("../pages/plugins/plugins-page.ts") },
  { path: "devices", title: "Devices", icon: "devices", tag: "oc-devices-page", load: () => import("../pages/devices/devices-page.ts") },
  { path: "config", title: "Configuration", icon: "config", tag: "oc-config-page", load: () => import("../pages/config/config-page.ts") },
  { path: "logs", title: "Logs", icon: "logs", tag: "oc-logs-page", load: () => import("../pages/logs/logs-page.ts"), full: true },
  { path: "start", title: "First steps", icon: "start", tag: "oc-start-page", load: () => import("../pages/start/start-page.ts") },
];
