import { lazyImageFitter } from "../media/index.ts";
import type { LazyModels } from "../models/index.ts";
import { mediaDescribers, type Plugins } from "../plugins/index.ts";
import { createMarkUntrusted } from "../tools/index.ts";
import { createUnderstanding, type Understanding } from "../understanding/index.ts";
import type { Core } from "./core.ts";

/** What describes files and links of messages; loaded with the first of them. */
export async function openUnderstanding(
  core: Pick<Core, "config" | "currentConfig" | "clock" | "log" | "env" | "ids" | "documents">,
  { models }: Pick<LazyModels, "models">,
  { registries }: Pick<Plugins, "registries">,
): Promise<Understanding> {
  const { config, currentConfig, clock, ids, env, documents } = core;
  const log = core.log.subsystem("media");
  const fitImages = lazyImageFitter(currentConfig, log, env);
  return await createUnderstanding({
    config,
    clock,
    log,
    models,
    documents,
    fitImages,
    mark: createMarkUntrusted(ids),
    describers: () => mediaDescribers(registries()),
  });
}
