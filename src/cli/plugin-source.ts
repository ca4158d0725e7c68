import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { fileURLToPath } from "node:url";
import type { Loaded } from "../config/index.ts";
import { bundledFolder, defaultWorkspace, readInventory, recoverInstalls, type Inventory } from "../plugins/index.ts";
import { loadFor } from "./config-source.ts";
import type { Io } from "./io.ts";

export { describedSections, findPlugin, pluginIssues } from "../plugins/index.ts";

export interface Plugins {
  readonly loaded: Loaded;
  readonly inventory: Inventory;
}

/** Looks at all plugins as a command sees them. A configuration with errors is no reason to stop. */
export async function loadPlugins(io: Io, loaded: Loaded = loadFor(io)): Promise<Plugins> {
  const { snapshot, env, paths, locate } = loaded;
  // What was written says all there is to say about plugins; old keys have to be moved first.
  const config: unknown = snapshot.valid && snapshot.legacy.length > 0 ? snapshot.config : snapshot.resolved;
  for (const done of recoverInstalls({ stateDir: paths.state, config: () => config, now: io.now() })) io.err(`${done}\n`);
  const inventory = await readInventory({
    config,
    stateDir: paths.state,
    workspaceDir: defaultWorkspace(config, { env: io.env, exists: existsSync, osHome: homedir(), cwd: io.cwd }),
    bundledDir: bundledFolder(io.env, fileURLToPath(import.meta.url)),
    env,
    home: paths.home,
    cwd: io.cwd,
    uid: process.getuid?.(),
    locate,
  });
  return { loaded, inventory };
}
