import type { OpenClawConfig } from "../config/index.ts";

const CANVAS = ["present", "hide", "navigate", "eval", "snapshot", "a2ui.push", "a2ui.pushJSONL", "a2ui.reset"].map((name) => `canvas.${name}`);
/** What phones and Macs may be asked unless the configuration says otherwise. */
const DEVICE = [
  ...CANVAS,
  "camera.list",
  "location.get",
  "device.info",
  "device.status",
  "contacts.search",
  "calendar.events",
  "reminders.list",
  "photos.latest",
  "motion.activity",
  "motion.pedometer",
];
/** Commands that only look: running one again after a crash does no harm, so nothing has to be on disk before they are sent or answered. */
export const READ_ONLY: ReadonlySet<string> = new Set([
  "system.which",
  "camera.list",
  "location.get",
  "device.info",
  "device.status",
  "contacts.search",
  "calendar.events",
  "reminders.list",
  "photos.latest",
  "motion.activity",
  "motion.pedometer",
]);
const HOST = ["system.run", "system.which", "system.notify", "browser.proxy"];

const BY_PLATFORM: readonly (readonly [name: RegExp, commands: readonly string[]])[] = [
  [/^ios|^ipados/, [...DEVICE, "system.notify"]],
  [/^android/, DEVICE],
  [/^mac|^darwin|^osx/, [...HOST, ...DEVICE]],
  [/^linux/, HOST],
  [/^win/, HOST],
];
const UNKNOWN = [...CANVAS, "camera.list", "location.get", ...HOST];

/** Commands that a node on this platform may be asked for. What is denied stays denied, also when `allowCommands` names it. */
export function allowedCommands(platform: string | undefined, config: OpenClawConfig): ReadonlySet<string> {
  const { allowCommands = [], denyCommands = [] } = config.gateway?.nodes ?? {};
  const name = platform?.trim().toLowerCase() ?? "";
  const known = BY_PLATFORM.find(([pattern]) => pattern.test(name))?.[1] ?? UNKNOWN;
  const allowed = new Set([...known, ...allowCommands.map((command) => command.trim())]);
  for (const command of denyCommands) allowed.delete(command.trim());
  return allowed;
}

/** Commands with methods of their own, which no list of allowed commands concerns. */
export const RESERVED = /^system\.execApprovals\./;

/** Declared commands that the configuration refuses, and which of its lists does. */
export function refusedCommands(
  { platform, declared }: { readonly platform?: string | undefined; readonly declared: ReadonlySet<string> },
  config: OpenClawConfig,
): { command: string; why: "denied" | "not-allowed" }[] {
  const allowed = allowedCommands(platform, config);
  const denied = new Set((config.gateway?.nodes?.denyCommands ?? []).map((command) => command.trim()));
  return [...declared]
    .filter((command) => !allowed.has(command) && !RESERVED.test(command))
    .sort()
    .map((command) => ({ command, why: denied.has(command) ? "denied" : "not-allowed" }));
}

export type CommandRefusal = "command not allowlisted" | "node did not declare commands" | "command not declared by node";

/** Why a node may not be asked for a command; undefined when it may. */
export function commandRefusal(
  command: string,
  node: { readonly platform?: string | undefined; readonly declared: ReadonlySet<string> },
  config: OpenClawConfig,
): CommandRefusal | undefined {
  if (!allowedCommands(node.platform, config).has(command)) return "command not allowlisted";
  if (node.declared.size === 0) return "node did not declare commands";
  return node.declared.has(command) ? undefined : "command not declared by node";
}
