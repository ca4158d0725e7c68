import type { OpenClawConfig } from "../../config/index.ts";
import type { AuthProfileCredential, OAuthCredential } from "../../protocol/index.ts";
import type { ModelEntry } from "../entry.ts";
import { createCatalogue, type Catalogue } from "./catalogue.ts";
import { loadTables } from "./frozen.ts";
import type { ProviderSettings } from "./layer.ts";
import { readModelsFile } from "./models-json.ts";

/** A provider that a plugin registered, in the SDK's shape. */
export interface PluginProvider {
  readonly id: string;
  readonly models?: ProviderSettings | undefined;
  /** Alternative names. */
  readonly aliases?: readonly string[] | undefined;
  /** Variables that may hold its key. */
  readonly envVars?: readonly string[] | undefined;
  /** Renews a login of it. */
  readonly refreshOAuth?: ((credential: OAuthCredential) => Promise<OAuthCredential>) | undefined;
  /** Formats a credential for authenticating its requests. */
  readonly formatApiKey?: ((credential: AuthProfileCredential) => string) | undefined;
}

export interface OpenCatalogueDeps {
  readonly config: OpenClawConfig;
  /** Folder with `models.json`. */
  readonly agentDir: string;
  readonly hasCredential: (provider: string) => boolean;
  readonly plugins?: readonly PluginProvider[] | undefined;
  readonly discovered?: readonly ModelEntry[] | undefined;
  readonly warn?: ((message: string) => void) | undefined;
}

/** The catalogue of one agent, from the tables, its `models.json`, the configuration, plugins and discovery. */
export async function openCatalogue({ config, agentDir, hasCredential, plugins = [], discovered, warn }: OpenCatalogueDeps): Promise<Catalogue> {
  const tables = await loadTables();
  const { providers, damage } = readModelsFile(agentDir);
  if (damage !== undefined) warn?.(damage);
  return createCatalogue({
    tables,
    config: config.models?.providers,
    file: config.models?.mode === "replace" ? undefined : providers,
    plugins: Object.fromEntries(plugins.flatMap(({ id, models }) => (models ? [[id, models]] : []))),
    discovered,
    hasCredential,
  });
}
