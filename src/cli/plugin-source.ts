import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { fileURLToPath } from "node:url";
import { mergePatch, type Loaded } from "../config/index.ts";
import { bundledFolder, defaultWorkspace, readInventory, recoverInstalls, writtenConfig, type Inventory } from "../plugins/index.ts";
import { loadFor } from "./config-source.ts";
import type { Io } from "./io.ts";

export { describedSections, findPlugin, pluginIssues, refusedSettings } from "../plugins/index.ts";

export interface Plugins {
  readonly loaded: Loaded;
  readonly inventory: Inventory;
}

/** Looks at all plugins as a command sees them. A configuration with errors is no reason to stop. */
export async function loadPlugins(io: Io, loaded: Loaded = loadFor(io)): Promise<Plugins> {
  const config = writtenConfig(loaded.snapshot);
  for (const done of recoverInstalls({ stateDir: loaded.paths.state, config: () => config, now: io.now() })) io.err(`${done}\n`);
  return { loaded, inventory: await inventoryOf(io, loaded) };
}

/** As {@link loadPlugins}, while an installation may be under way. `staged`: a folder whose plugin counts instead of an installed one of its name. */
export async function inventoryOf(io: Io, { snapshot, env, paths, locate }: Loaded, staged?: string): Promise<Inventory> {
  const written = writtenConfig(snapshot);
  const config = staged === undefined ? written : mergePatch(written, { plugins: { load: { paths: [staged] } } });
  return await readInventory({
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
}
