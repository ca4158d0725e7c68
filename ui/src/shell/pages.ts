import { keep } from "../base/keep.ts";
import type { IconName } from "../look/icons.ts";
import { t } from "../words/words.ts";

/** Headings of the sidebar, in order. */
export const PAGE_GROUPS = [t("Assistant"), t("Connections"), t("Monitor"), t("Settings")] as const;
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
  { path: "chat", title: t("Chat"), icon: "chat", tag: "oc-chat-page", full: true },
  { path: "overview", title: t("Overview"), icon: "overview", tag: "oc-overview-page", load: () => import("../pages/overview/overview-page.ts") },
  { path: "agents", title: t("Agents"), group: t("Assistant"), icon: "agents", tag: "oc-agents-page", load: () => import("../pages/agents/agents-page.ts") },
  {
    path: "skills",
    title: t("Skills"),
    group: t("Assistant"),
    icon: "skills",
    tag: "oc-skills-page",
    load: () => import("../pages/skills/skills-page.ts"),
    full: true,
  },
  { path: "memory", title: t("Memory"), group: t("Assistant"), icon: "memory", tag: "oc-memory-page", load: () => import("../pages/memory/memory-page.ts") },
  { path: "jobs", title: t("Automation"), group: t("Assistant"), icon: "automation", tag: "oc-jobs-page", load: () => import("../pages/jobs/jobs-page.ts") },
  {
    path: "subagents",
    title: t("Sub-agents"),
    group: t("Assistant"),
    icon: "tree",
    tag: "oc-subagents-page",
    load: () => import("../pages/subagents/subagents-page.ts"),
  },
  {
    path: "channels",
    title: t("Channels"),
    group: t("Connections"),
    icon: "channels",
    tag: "oc-channels-page",
    load: () => import("../pages/channels/channels-page.ts"),
    full: true,
  },
  {
    path: "devices",
    title: t("Devices"),
    group: t("Connections"),
    icon: "devices",
    tag: "oc-devices-page",
    load: () => import("../pages/devices/devices-page.ts"),
    full: true,
  },
  {
    path: "nodes",
    title: t("Nodes"),
    group: t("Connections"),
    icon: "node",
    tag: "oc-nodes-page",
    load: () => import("../pages/nodes/nodes-page.ts"),
    full: true,
  },
  {
    path: "plugins",
    title: t("Plugins"),
    group: t("Connections"),
    icon: "plugins",
    tag: "oc-plugins-page",
    load: () => import("../pages/plugins/plugins-page.ts"),
    full: true,
  },
  {
    path: "approvals",
    title: t("Approvals"),
    group: t("Monitor"),
    icon: "approve",
    tag: "oc-approvals-page",
    load: () => import("../pages/approvals/approvals-page.ts"),
  },
  {
    path: "usage",
    title: t("Usage and budgets"),
    group: t("Monitor"),
    icon: "coins",
    tag: "oc-usage-page",
    load: () => import("../pages/usage/usage-page.ts"),
  },
  {
    path: "sessions",
    title: t("Sessions"),
    group: t("Monitor"),
    icon: "sessions",
    tag: "oc-sessions-page",
    load: () => import("../pages/sessions/sessions-page.ts"),
  },
  { path: "trace", title: t("Trace"), group: t("Monitor"), icon: "trace", tag: "oc-trace-page", load: () => import("../pages/trace/trace-page.ts") },
  { path: "logs", title: t("Logs"), group: t("Monitor"), icon: "logs", tag: "oc-logs-page", load: () => import("../pages/logs/logs-page.ts"), full: true },
  {
    path: "config",
    title: t("Configuration"),
    group: t("Settings"),
    icon: "config",
    tag: "oc-config-page",
    load: () => import("../pages/config/config-page.ts"),
  },
  {
    path: "security",
    title: t("Security"),
    group: t("Settings"),
    icon: "shield",
    tag: "oc-security-page",
    load: () => import("../pages/security/security-page.ts"),
  },
  {
    path: "backups",
    title: t("Backups"),
    group: t("Settings"),
    icon: "archive",
    tag: "oc-backups-page",
    load: () => import("../pages/backups/backups-page.ts"),
  },
  {
    path: "update",
    title: t("Update"),
    group: t("Settings"),
    icon: "update",
    tag: "oc-update-page",
    load: () => import("../pages/update/update-page.ts"),
  },
  { path: "start", title: t("Get started"), group: t("Settings"), icon: "start", tag: "oc-start-page", load: () => import("../pages/start/start-page.ts") },
];

/** Whether a page is in the menu: the first steps go once they are done. The address and the search still lead there. */
export const isShown = ({ path }: Pick<PageEntry, "path">): boolean => path !== "start" || keep.text("started") === undefined;
