import type { OpenClawConfig } from "../../config/index.ts";
import type { AuthProfileCredential, OAuthCredential } from "../../protocol/index.ts";
import type { ModelEntry } from "../entry.ts";
import { createCatalogue, type Catalogue } from "./catalogue.ts";
import { loadTables } from "./frozen.ts";
import type { ProviderSettings } from "./layer.ts";
import { readModelsFile } from "./models-json.ts";

/** A provider that a plugin registered; the shape is the one plugins use. */
export interface PluginProvider {
  readonly id: string;
  readonly models?: ProviderSettings | undefined;
  /** Other names that mean it. */
  readonly aliases?: readonly string[] | undefined;
  /** Variables that may hold its key. */
  readonly envVars?: readonly string[] | undefined;
  /** Renews a login of it. */
  readonly refreshOAuth?: ((credential: OAuthCredential) => Promise<OAuthCredential>) | undefined;
  /** Turns a credential into what its requests are signed with. */
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

/** The catalogue of one agent, from the tables, its `models.json`, the configuration, plugins and what was found. */
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
