import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { AppError, messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/log/logger.ts";
import {
  formatLocated,
  hasUnexplainedNames,
  touchesPluginSettings,
  type Config,
  type Env,
  type KnownNames,
  type Loaded,
  type LocatedIssue,
  type ReviewWrite,
} from "../../config/index.ts";
import type { Inventory } from "../inventory/inventory.ts";
import type { Plugins } from "./create-plugins.ts";

interface Surroundings {
  readonly env: Env;
  readonly cwd: string;
  readonly osHome: string;
}

/** Names that the manifests of plugins declare, for a configuration that was just read. None of their code is loaded. */
export async function manifestNames(loaded: Loaded, surroundings: Surroundings): Promise<KnownNames> {
  const { snapshot } = loaded;
  const [{ knownNames }, { entries }] = await Promise.all([
    import("../inventory/index.ts"),
    inventoryFor(loaded, snapshot.valid ? snapshot.config : snapshot.resolved, surroundings),
  ]);
  return knownNames(entries, snapshot.resolved);
}

/** What a write changes to what the manifests of plugins refuse. A write that touches no settings of theirs costs nothing. */
export async function manifestRefusals(write: Parameters<ReviewWrite>[0], surroundings: Surroundings): Promise<readonly LocatedIssue[]> {
  if (!touchesPluginSettings(write)) return [];
  const { refusedSettings, writtenConfig } = await import("../inventory/index.ts");
  return refusedSettings(write, await inventoryFor(write.after, writtenConfig(write.after.snapshot), surroundings));
}

async function inventoryFor(loaded: Loaded, config: unknown, { env, cwd, osHome }: Surroundings): Promise<Inventory> {
  const { bundledFolder, defaultWorkspace, readInventory } = await import("../inventory/index.ts");
  const { paths } = loaded;
  return await readInventory({
    config,
    stateDir: paths.state,
    workspaceDir: defaultWorkspace(config, { env, exists: existsSync, osHome, cwd }),
    bundledDir: bundledFolder(env, fileURLToPath(import.meta.url)),
    env: loaded.env,
    home: paths.home,
    cwd,
    uid: process.getuid?.(),
  });
}

interface JudgeDeps {
  readonly config: Config;
  readonly plugins: Pick<Plugins, "names" | "onChange">;
  readonly log: Logger;
}

/**
 * Holds names in policies against what plugins registered, now and whenever plugins change. When one that was to deny something means nothing, the start fails
 * with what to correct; later the last good configuration stays in use.
 */
export async function judgeNames({ config, plugins, log }: JudgeDeps): Promise<void> {
  const learn = async (): Promise<void> => {
    const names = await plugins.names();
    if (names) config.know(names);
  };
  const later = (): void => void learn().catch((error: unknown) => log.warn(`names in policies could not be checked: ${messageOf(error)}`));
  plugins.onChange(later);
  const { source, resolved } = config.snapshot();
  if (source === "last-good" || !hasUnexplainedNames(resolved)) return later();
  const names = await plugins.names();
  if (!names) return;
  const { issues, warnings } = config.know(names);
  const wrong = issues.filter(({ code }) => code === "unknown-name" || code === "unknown-plugin");
  if (wrong.length > 0) {
    const lines = wrong.map((issue) => `- ${formatLocated(issue)}`);
    throw new AppError("CONFIG_INVALID", [`Invalid config at ${config.paths.file}:`, ...lines, "Correct the names, or run openclaw doctor --fix."].join("\n"), {
      details: { issues: wrong },
    });
  }
  for (const issue of warnings.filter(({ code }) => code === "unknown-name")) log.warn(formatLocated(issue));
}
