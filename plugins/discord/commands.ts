/** The menu of slash commands. */
import type { ChannelPlugin } from "openclaw/plugin-sdk";
import { textOf } from "openclaw/plugin-sdk/channel-kit";
import type { Rest } from "./rest.ts";

type Offered = Parameters<NonNullable<ChannelPlugin["nativeCommands"]>["register"]>[0]["commands"][number];

const MAX_COMMANDS = 100;
const MAX_DESCRIPTION = 100;
const MAX_CHOICES = 25;
const STRING = 3;

/** With more choices than a list has space for, they are suggested while one types. */
function optionsOf({ acceptsArgs, choices = [] }: Offered): object[] {
  if (!acceptsArgs) return [];
  const option = { name: "input", type: STRING, description: "Arguments", required: false };
  if (choices.length === 0) return [option];
  return [
    choices.length > MAX_CHOICES ? { ...option, autocomplete: true } : { ...option, choices: choices.map((choice) => ({ name: choice, value: choice })) },
  ];
}

/** Names as Discord takes them, each once. The host names its own commands first: what is over the limit are skills. */
export function menuOf(commands: readonly Offered[]): Record<string, unknown>[] {
  const menu = new Map<string, Record<string, unknown>>();
  for (const command of commands) {
    const name = command.name.trim().replace(/^\//, "").toLowerCase();
    const description = command.description.trim().slice(0, MAX_DESCRIPTION) || name;
    if (!/^[-_\p{Ll}\p{N}]{1,32}$/u.test(name) || menu.has(name)) continue;
    menu.set(name, { name, description, type: 1, options: optionsOf(command) });
  }
  return [...menu.values()].slice(0, MAX_COMMANDS);
}

export async function registerCommands(rest: Rest, commands: readonly Offered[], signal: AbortSignal): Promise<void> {
  const application = await rest.fields("GET", "/oauth2/applications/@me", { signal });
  await rest.call("PUT", `/applications/${textOf(application["id"]) ?? ""}/commands`, { json: menuOf(commands), signal, isPatient: true });
}

/** Choices of a command's argument that contain what was typed. */
export function completions(commands: readonly Offered[], name: string, typed: string): readonly string[] {
  const choices = commands.find((command) => command.name.replace(/^\//, "").toLowerCase() === name)?.choices ?? [];
  const wanted = typed.trim().toLowerCase();
  return choices.filter((choice) => choice.toLowerCase().includes(wanted)).slice(0, MAX_CHOICES);
}
