import { loadPluginTrial, type TrialProgram } from "../../../app/index.ts";
import type { InstallDeps } from "../../../plugins/index.ts";
import type { Io } from "../../io.ts";
import { loadPlugins } from "../../plugin-source.ts";

/** This command line, to be run once more. */
export const ownProgram = ({ cwd, env }: Io): TrialProgram => ({ args: [...process.execArgv, process.argv[1]!], cwd, env });

/** Asks the plugins that are on about an install, outside of this process. Undefined when there are none to ask. */
export async function installHooks(io: Io): Promise<InstallDeps["hooks"]> {
  const [{ installHooks: create }, { inventory }] = await Promise.all([loadPluginTrial(), loadPlugins(io)]);
  return create(ownProgram(io), inventory, (message) => io.err(`${message}\n`));
}
