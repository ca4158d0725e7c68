import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { fileURLToPath } from "node:url";
import type { Config, Env } from "../../config/index.ts";
import { bundledFolder } from "./bundled-folder.ts";
import { defaultWorkspace } from "./workspace.ts";
import { type InventoryOptions } from "./inventory.ts";

/** How this gateway looks for plugins, for a configuration: the one in use, or one that is only looked at. */
export function inventoryOptions({ config, env }: { readonly config: Config; readonly env: Env }, value: unknown): InventoryOptions {
  const { paths } = config;
  return {
    config: value,
    stateDir: paths.state,
    workspaceDir: defaultWorkspace(value, { env, exists: existsSync, osHome: homedir(), cwd: process.cwd() }),
    bundledDir: bundledFolder(env, fileURLToPath(import.meta.url)),
    env: config.env(),
    home: paths.home,
    cwd: process.cwd(),
    uid: process.getuid?.(),
  };
}
