/**
 * Tools whose code is in a module above this one, in a plugin, or not in this version: what policy, prompt and chats have to know about them all the same.
 * One that is built here gets a file of its own instead.
 */
import type { OpenClawConfig } from "../../config/index.ts";
import type { ToolFacts } from "../declaration.ts";

const hasChannel = ({ channels }: OpenClawConfig): boolean => Object.keys(channels ?? {}).some((id) => id !== "defaults" && id !== "modelByChannel");

/** Its code is in `conversation/delivery`. */
export const MESSAGE = {
  name: "message",
  groups: ["messaging", "openclaw"],
  reach: { outbound: true },
  promptLine: "send messages and use a channel's actions",
  icon: "✉️",
  absence: ({ config }) => (hasChannel(config) ? undefined : { why: "no channel is configured: there is nowhere to send to", path: "channels" }),
} satisfies ToolFacts;

/** Its code is in `gateway/tools`. */
export const GATEWAY = {
  name: "gateway",
  groups: ["automation", "openclaw"],
  reach: { reads: "private", outbound: true },
  promptLine: "restart, configuration and updates of OpenClaw itself",
  icon: "🔌",
  ownerOnly: true,
  inSandbox: "denied",
  subagents: "never",
  overHttp: "if-named",
} satisfies ToolFacts;

/** Its code is in `automation/cron`. */
export const CRON = {
  name: "cron",
  groups: ["automation", "openclaw"],
  reach: { outbound: true },
  promptLine: "reminders and scheduled jobs; word a reminder so that it makes sense when it fires, with the context it needs",
  icon: "⏰",
  ownerOnly: true,
  inSandbox: "denied",
  subagents: "never",
} satisfies ToolFacts;

/** Its code is in `browser/tool`. */
export const BROWSER = {
  name: "browser",
  groups: ["ui", "openclaw"],
  reach: { reads: "untrusted", outbound: true },
  promptLine: "drive a web browser",
  icon: "🌐",
  inSandbox: "denied",
  absence: ({ config }) => (config.browser?.enabled === false ? { why: "the browser is turned off", path: "browser.enabled" } : undefined),
} satisfies ToolFacts;

/** Its code is in `nodes/canvas`. It is there once a page or a node that shows a canvas has connected. */
export const CANVAS = {
  name: "canvas",
  groups: ["ui", "openclaw"],
  reach: { reads: "untrusted", outbound: true },
  promptLine: "show a page or an interface beside the conversation or on a node, run code in it, take its picture",
  icon: "🖼️",
  inSandbox: "denied",
  absence: ({ config }) => (config.canvasHost?.enabled === false ? { why: "the canvas is turned off", path: "canvasHost.enabled" } : undefined),
} satisfies ToolFacts;

/** Its code is in `nodes/tool`. It is there once a node has connected. */
export const NODES = {
  name: "nodes",
  groups: ["nodes", "openclaw"],
  reach: { reads: "both", outbound: true },
  promptLine: "paired devices: list, notify, run commands, camera, screen, location",
  icon: "📱",
  ownerOnly: true,
  inSandbox: "denied",
  subagents: "never",
  overHttp: "if-named",
} satisfies ToolFacts;

/** Its code is in `automation/subagents`. */
export const SESSIONS_SPAWN = {
  name: "sessions_spawn",
  groups: ["sessions", "openclaw"],
  reach: { outbound: true },
  promptLine: "start a sub-agent",
  icon: "🧑‍🔧",
  inSandbox: "allowed",
  subagents: "not-deepest",
  overHttp: "if-named",
} satisfies ToolFacts;

/** Its code is in `automation/subagents`. */
export const SUBAGENTS = {
  name: "subagents",
  groups: ["sessions", "openclaw"],
  reach: {},
  promptLine: "list, wait for, steer or end sub-agents of this session",
  icon: "🤖",
  inSandbox: "allowed",
} satisfies ToolFacts;

/** Plugins bring them. */
export const OF_PLUGINS: readonly ToolFacts[] = [
  { name: "whatsapp_login", groups: [], ownerOnly: true, subagents: "never", overHttp: "if-named", fromPlugin: true },
];
