import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { fileURLToPath } from "node:url";
import { AppError } from "../base/errors.ts";
import { nearest } from "../base/text.ts";
import type { Loaded } from "../config/index.ts";
import { bundledFolder, defaultWorkspace, readInventory, recoverInstalls, type Inventory, type PluginEntry } from "../plugins/index.ts";
import { loadFor } from "./config-source.ts";
import type { Io } from "./io.ts";

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

/** The plugin that an id names; of several the one that is used. */
export function findPlugin({ entries }: Inventory, id: string | undefined): PluginEntry {
  if (id === undefined) throw new AppError("INVALID_INPUT", "expected the id of a plugin; openclaw plugins list shows them");
  const named = entries.filter((entry) => entry.id === id);
  const found =
    named.find((entry) => entry.enabled) ?? named.find((entry) => !entry.reason?.startsWith("overridden by ") && entry.error === undefined) ?? named[0];
  if (found) return found;
  const close = nearest(
    id,
    entries.map((entry) => entry.id),
  );
  throw new AppError("NOT_FOUND", `plugin not found: ${id}; ${close === undefined ? "openclaw plugins list shows what there is" : `did you mean "${close}"?`}`);
}
