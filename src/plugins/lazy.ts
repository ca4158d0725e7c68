/** Parts of this module that are loaded when they are first needed. */
import type * as create from "./create/create.ts";
import type * as install from "./install/index.ts";
import type * as journal from "./install/journal.ts";
import type * as commandHost from "./running/command-host.ts";
import type * as names from "./running/names.ts";
import type * as openPlugins from "./running/open-plugins.ts";
import type * as skills from "./skills/index.ts";
import type * as trial from "./running/trial.ts";

/** Installing, updating and uninstalling: loaded by the command that needs it. */
export async function loadInstall(): Promise<typeof install> {
  return import("./install/index.ts");
}

/** Finishing installs that were interrupted. */
export const loadJournal = async (): Promise<typeof journal> => import("./install/journal.ts");

/** Installing skills and what they need: loaded by the command or method that needs it. */
export const loadSkillInstall = async (): Promise<typeof skills> => import("./skills/index.ts");

/** Creating a plugin from a template: loaded by the command that needs it. */
export async function loadCreate(): Promise<typeof create> {
  return import("./create/create.ts");
}

/** What manifests say about names in the configuration. Loaded when a configuration names some. */
export const loadNames = async (): Promise<typeof names> => import("./running/names.ts");

/** Running plugins without a gateway. Loaded by tests of plugins. */
export const loadOpenPlugins = async (): Promise<typeof openPlugins> => import("./running/open-plugins.ts");

/** Plugins for one command. Loaded by the command that needs them. */
export const loadCommandHost = async (): Promise<typeof commandHost> => import("./running/command-host.ts");

/** Loading plugins in a child process to see whether they load. Loaded by the command that asks. */
export const loadPluginTrial = async (): Promise<typeof trial> => import("./running/trial.ts");
