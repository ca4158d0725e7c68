/** The menu of commands. */
import type { TelegramAccount } from "./account.ts";
import type { TelegramClient } from "./api/client.ts";

interface Offered {
  readonly name: string;
  readonly description: string;
}

interface MenuEntry {
  command: string;
  description: string;
}

const MAX_COMMANDS = 100;
const MAX_DESCRIPTION = 256;

/** Names as the menu takes them, each once, the host's before the account's own. What has no such name is left out. */
export function menuOf(commands: readonly Offered[], custom: TelegramAccount["customCommands"]): MenuEntry[] {
  const menu = new Map<string, string>();
  const all = [...commands, ...custom.map(({ command, description }) => ({ name: command, description }))];
  for (const { name, description } of all) {
    const command = name.trim().replace(/^\//, "").toLowerCase().replaceAll("-", "_");
    const text = description.trim().slice(0, MAX_DESCRIPTION);
    if (/^[a-z0-9_]{1,32}$/.test(command) && text !== "" && !menu.has(command)) menu.set(command, text);
  }
  return [...menu].slice(0, MAX_COMMANDS).map(([command, description]) => ({ command, description }));
}

/** Replaces the menu, and gives the commands that it has now. */
export async function registerCommands(
  client: TelegramClient,
  commands: readonly Offered[],
  custom: TelegramAccount["customCommands"],
  signal: AbortSignal,
): Promise<string[]> {
  const menu = menuOf(commands, custom);
  await client.call("deleteMyCommands", {}, { signal });
  if (menu.length > 0) await client.call("setMyCommands", { commands: menu }, { signal });
  return menu.map(({ command }) => command);
}
