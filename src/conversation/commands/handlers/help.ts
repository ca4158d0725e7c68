import { COMMANDS, type CommandFacts, type CommandGroup } from "../../../channels/index.ts";
import type { OpenClawConfig } from "../../../config/index.ts";
import type { Handler } from "../handling.ts";
import { skillCommands } from "./skill.ts";

/** In this version, and switched on as far as it can be switched. */
export function isOn({ gate }: CommandFacts, config: OpenClawConfig): boolean {
  return gate === undefined || config.commands?.[gate] === true;
}

const usageOf = ({ names, usage }: CommandFacts): string => `/${names[0]}${usage === undefined ? "" : ` ${usage}`}`;

const SHORT: readonly { readonly title: string; readonly names: readonly string[] }[] = [
  { title: "Session", names: ["new", "reset", "compact", "stop"] },
  { title: "Options", names: ["think", "model", "verbose", "reasoning", "usage", "config", "debug"] },
  { title: "Status", names: ["status", "whoami", "context", "trace"] },
  { title: "Skills", names: ["skill"] },
];

export const help: Handler = ({ ports }) => {
  const config = ports.config.current();
  const lines = SHORT.map(({ title, names }) => {
    const shown = COMMANDS.filter((command) => names.includes(command.names[0]) && isOn(command, config));
    return `${title}: ${shown.map(usageOf).join(" | ")}`;
  });
  return ["**Help**", ...lines, "All commands: /commands"].join("\n");
};

const TITLES: Readonly<Record<CommandGroup, string>> = {
  session: "Session",
  options: "Options",
  status: "Status",
  management: "Management",
  media: "Media",
  tools: "Tools",
};

function line(name: string, aliases: readonly string[], takesText: boolean, description: string): string {
  const others = aliases.length === 0 ? "" : ` (${aliases.map((alias) => `/${alias}`).join(", ")})`;
  return `/${name}${others}${takesText ? " [text]" : ""} - ${description}`;
}

/** Every command with what it does, then those of plugins and skills. */
export const commands: Handler = async ({ ports, call }) => {
  const config = ports.config.current();
  const sections = Object.entries(TITLES).map(([group, title]) => {
    const own = COMMANDS.filter((command) => command.group === group && isOn(command, config));
    return own.length === 0 ? [] : [`**${title}**`, ...own.map(({ names: [name, ...aliases], args, description }) => line(name, aliases, args, description))];
  });
  const plugins = (ports.plugins?.list() ?? []).map(({ name, description, acceptsArgs }) => line(name, [], acceptsArgs, description));
  const skills = await skillCommands(ports, call.agentId);
  return [
    ...sections.filter((section) => section.length > 0),
    ...(plugins.length === 0 ? [] : [["**Plugins**", ...plugins]]),
    ...(skills.length === 0 ? [] : [["**Skills**", ...skills.map(({ command, description }) => line(command, [], true, description))]]),
  ]
    .map((section) => section.join("\n"))
    .join("\n\n");
};

/** What an operator needs to approve a sender. */
export const whoami: Handler = ({ call }) => {
  const { ctx, channel, senderId, isGroup, accountId } = call;
  const lines: readonly (readonly [string, string | number | undefined])[] = [
    ["Channel", channel],
    ["Account", accountId === "default" ? undefined : accountId],
    ["User id", senderId],
    ["Username", ctx.SenderUsername && `@${ctx.SenderUsername.replace(/^@/, "")}`],
    ["Chat", isGroup ? ctx.From : undefined],
    ["Thread", ctx.MessageThreadId],
    ["AllowFrom", senderId],
  ];
  const known = lines.filter(([, value]) => value !== undefined && value !== "");
  return ["**Identity**", ...known.map(([name, value]) => `${name}: ${value}`)].join("\n");
};
