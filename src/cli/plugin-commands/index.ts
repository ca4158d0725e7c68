import { existsSync, readdirSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { configFile, stateFolder } from "../../config/index.ts";
import type { PluginCommands } from "../dispatch.ts";
import type { Io } from "../io.ts";

/** Commands that plugins bring. Nothing of plugins is loaded until one is asked for, or, for the help, while none seems to be there. */
export function pluginCommands(io: Io): PluginCommands {
  return {
    async listed() {
      if (!seemsToHavePlugins(io)) return [];
      const { listCommands } = await import("./list.ts");
      return listCommands(io);
    },
    async run(args) {
      const { runPluginCommand } = await import("./run.ts");
      return runPluginCommand(args, io);
    },
  };
}

/** Two looks at the disk: something is installed, or the configuration says something about plugins. */
function seemsToHavePlugins({ env, cwd }: Io): boolean {
  const place = { env, cwd, exists: existsSync, osHome: homedir() };
  try {
    if (readdirSync(join(stateFolder(place), "extensions")).length > 0) return true;
  } catch {
    // Nothing was ever installed.
  }
  try {
    return /plugins|\$include/.test(readFileSync(configFile(place), "utf8"));
  } catch {
    return false; // No configuration, or none that can be read: commands say so.
  }
}
