import { createLazyImaging, type Imaging } from "../imaging/index.ts";
import { lazyImageFitter } from "../media/index.ts";
import type { LazyModels } from "../models/index.ts";
import { imageMakers, mediaDescribers, type Plugins } from "../plugins/index.ts";
import { createMarkUntrusted } from "../tools/index.ts";
import { createUnderstanding, type Understanding } from "../understanding/index.ts";
import type { Core } from "./core.ts";
import { mediaSpending } from "./media-spending.ts";

/** What describes files and links of messages; loaded with the first of them. */
export async function openUnderstanding(
  core: Pick<Core, "config" | "currentConfig" | "clock" | "log" | "env" | "ids" | "documents" | "store">,
  lazy: Pick<LazyModels, "models" | "budgets">,
  { registries }: Pick<Plugins, "registries">,
): Promise<Understanding> {
  const { config, currentConfig, clock, ids, env, documents } = core;
  const log = core.log.subsystem("media");
  const fitImages = lazyImageFitter(currentConfig, log, env);
  return await createUnderstanding({
    config,
    clock,
    log,
    models: lazy.models,
    documents,
    fitImages,
    mark: createMarkUntrusted(ids),
    spending: mediaSpending(core, lazy),
    describers: () => mediaDescribers(registries()),
  });
}

/** What makes pictures; loaded with the first of them. */
export async function openImaging(core: Core, models: LazyModels, { registries }: Pick<Plugins, "registries">): Promise<Imaging> {
  const { config, clock, ids, log } = core;
  return createLazyImaging({
    config,
    clock,
    ids,
    log: log.subsystem("media"),
    auth: async (agentId) => (await models.models()).auth(agentId),
    spending: mediaSpending(core, models),
    makers: () => imageMakers(registries()),
  })();
}
