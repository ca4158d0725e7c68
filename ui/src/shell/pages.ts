import type { IconName } from "../look/icons.ts";

/** Headings of the sidebar, in order. */
export const PAGE_GROUPS = ["Assistant", "Connections", "Monitor", "Settings"] as const;
export type PageGroup = (typeof PAGE_GROUPS)[number];

/** A page of the UI: where it is, what it is called, and how its code comes. */
export interface PageEntry {
  readonly path: string;
  readonly title: string;
  readonly icon: IconName;
  /** The element's name. */
  readonly tag: string;
  /** Loads the element's code; without it the code is there. */
  readonly load?: () => Promise<unknown>;
  /** The heading it stands below in the sidebar; the first ones have none. */
  readonly group?: PageGroup;
  /** It fills the window and scrolls by itself. */
  readonly full?: boolean;
}

export const PAGES: readonly PageEntry[] = [
  { path: "chat", title: "Chat", icon: "chat", tag: "oc-chat-page", full: true },
  { path: "overview", title: "Overview", icon: "overview", tag: "oc-overview-page", load: () => import("../pages/overview/overview-page.ts") },
  { path: "agents", title: "Agents", group: "Assistant", icon: "agents", tag: "oc-agents-page", load: () => import("../pages/agents/agents-page.ts") },
  { path: "memory", title: "Memory", group: "Assistant", icon: "memory", tag: "oc-memory-page", load: () => import("../pages/memory/memory-page.ts") },
  { path: "jobs", title: "Automation", group: "Assistant", icon: "clock", tag: "oc-jobs-page", load: () => import("../pages/jobs/jobs-page.ts") },
  {
    path: "subagents",
    title: "Sub-agents",
    group: "Assistant",
    icon: "tree",
    tag: "oc-subagents-page",
    load: () => import("../pages/subagents/subagents-page.ts"),
  },
  {
    path: "channels",
    title: "Channels",
    group: "Connections",
    icon: "channels",
    tag: "oc-channels-page",
    load: () => import("../pages/channels/channels-page.ts"),
  },
  { path: "devices", title: "Devices", group: "Connections", icon: "devices", tag: "oc-devices-page", load: () => import("../pages/devices/devices-page.ts") },
  { path: "plugins", title: "Plugins", group: "Connections", icon: "plugins", tag: "oc-plugins-page", load: () => import("../pages/plugins/plugins-page.ts") },
  {
    path: "sessions",
    title: "Sessions",
    group: "Monitor",
    icon: "sessions",
    tag: "oc-sessions-page",
    load: () => import("../pages/sessions/sessions-page.ts"),
  },
  { path: "trace", title: "Trace", group: "Monitor", icon: "trace", tag: "oc-trace-page", load: () => import("../pages/trace/trace-page.ts") },
  { path: "logs", title: "Logs", group: "Monitor", icon: "logs", tag: "oc-logs-page", load: () => import("../pages/logs/logs-page.ts"), full: true },
  { path: "config", title: "Configuration", group: "Settings", icon: "config", tag: "oc-config-page", load: () => import("../pages/config/config-page.ts") },
  { path: "start", title: "Get started", group: "Settings", icon: "start", tag: "oc-start-page", load: () => import("../pages/start/start-page.ts") },
];
