import { type InstallDeps, loadPluginTrial, type TrialProgram } from "../../../plugins/index.ts";
import type { Io } from "../../io.ts";
import { ownArguments } from "../../own-arguments.ts";
import { loadPlugins } from "../../plugin-source.ts";

/** This command line, to be run once more. */
export const ownProgram = ({ cwd, env }: Io): TrialProgram => ({ args: ownArguments(), cwd, env });

/** Asks the plugins that are on about an install, outside of this process. Undefined when there are none to ask. */
export async function installHooks(io: Io): Promise<InstallDeps["hooks"]> {
  const [{ installHooks: create }, { inventory }] = await Promise.all([loadPluginTrial(), loadPlugins(io)]);
  return create(ownProgram(io), inventory, (message) => io.err(`${message}\n`));
}

/** Tries a plugin before it replaces another one. */
export const tryStaged =
  (io: Io): NonNullable<InstallDeps["tryStaged"]> =>
  async (folder, ids) =>
    (await loadPluginTrial()).tryStaged(ownProgram(io), folder, ids);
