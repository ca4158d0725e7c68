import { channelSections, COMMANDS } from "../../channels/index.ts";
import { isObject, knownChannel, type OpenClawConfig } from "../../config/index.ts";
import type { HostConfig, NativeCommandSpec } from "../../protocol/index.ts";
import type { Commands, MenuOwner } from "./commands.ts";
import { isOn } from "./handlers/help.ts";
import { skillCommands } from "./handlers/skill.ts";
import type { CommandPorts } from "./ports.ts";

/** The account's `commands`, else the channel's, else those of all channels. */
function wanted(config: OpenClawConfig, { channel, accountId }: MenuOwner, key: "native" | "nativeSkills"): boolean {
  const section = channelSections(config as HostConfig, channel, accountId)
    .map(({ commands }) => commands)
    .find(isObject);
  const own = section?.[key];
  const choice = own ?? config.commands?.[key] ?? "auto";
  return choice === "auto" ? knownChannel(channel).nativeCommands === "automatic" : choice === true;
}

/** What a platform's menu offers: own commands, those of plugins, skills. None when the menu is to be empty. */
export async function nativeCommands(ports: CommandPorts, agentId: string, owner: MenuOwner): Promise<readonly NativeCommandSpec[]> {
  const config = ports.config.current();
  if (!wanted(config, owner, "native")) return [];
  const own = COMMANDS.filter((command) => command.textOnly !== true && isOn(command, config)).map(({ names: [name], description, args, choices }) => {
    return { name, description, acceptsArgs: args, ...(choices === undefined ? {} : { choices: [...choices] }) };
  });
  const plugins = (ports.plugins?.list() ?? []).map(({ name, description, acceptsArgs }) => ({ name, description, acceptsArgs }));
  const skills = wanted(config, owner, "nativeSkills") ? await skillCommands(ports, agentId) : [];
  return [...own, ...plugins, ...skills.map(({ command, description }) => ({ name: command, description, acceptsArgs: true }))];
}

export async function listCommands(ports: CommandPorts, agentId: string): ReturnType<Commands["list"]> {
  const config = ports.config.current();
  const skills = await skillCommands(ports, agentId);
  return [
    ...COMMANDS.filter((command) => isOn(command, config)).map(({ names: [name, ...aliases], description, group, args, usage, choices }) => {
      const more = { ...(usage === undefined ? {} : { usage }), ...(choices === undefined ? {} : { choices }) };
      return { name, aliases, description, group, acceptsArgs: args, ...more, source: "core" };
    }),
    ...(ports.plugins?.list() ?? []).map(({ pluginId, ...command }) => ({
      ...command,
      aliases: [],
      group: "plugins",
      source: `plugin:${pluginId ?? "unknown"}`,
    })),
    ...skills.map(({ command, description }) => {
      return { name: command, aliases: [], description, group: "skills", acceptsArgs: true, usage: "[input]", source: "skill" };
    }),
  ];
}
