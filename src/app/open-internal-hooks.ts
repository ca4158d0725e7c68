import { dirname } from "node:path";
import { createLazyInternalHooks, type LazyInternalHooks } from "../automation/index.ts";
import type { Responder } from "../conversation/index.ts";
import type { LazyModels } from "../models/index.ts";
import { loadJournal, type Plugins } from "../plugins/index.ts";
import type { Core } from "./core.ts";

export interface InternalHooksDeps {
  readonly core: Core;
  readonly plugins: Pick<Plugins, "importFile" | "internalHooks">;
  readonly models: LazyModels;
  readonly runs: Pick<Responder, "accept" | "outcome">;
}

/** Hooks from files of the user and the workspace. */
export function openInternalHooks({ core, plugins, models, runs }: InternalHooksDeps): LazyInternalHooks {
  const { config, store, clock, ids, env, workspaceOf } = core;
  return createLazyInternalHooks({
    config,
    store,
    clock,
    ids,
    env,
    models,
    workspaceOf,
    log: core.log.subsystem("hooks"),
    registry: plugins.internalHooks,
    stateDir: config.paths.state,
    home: config.paths.home,
    configDir: dirname(config.paths.file),
    platform: process.platform,
    runs,
    recover: async () => (await loadJournal()).recoverInstalls({ stateDir: config.paths.state, config: () => config.current, now: clock.now(), what: "hooks" }),
    importModule: ({ name, file, rootDir }) => plugins.importFile({ id: name, source: file, rootDir, noun: "hook" }),
  });
}
