import { existsSync } from "node:fs";
import { homedir } from "node:os";
import type { Clock } from "../base/clock.ts";
import type { Ids } from "../base/ids.ts";
import { lazy } from "../base/lazy.ts";
import type { Logger } from "../base/log/logger.ts";
import type { Random } from "../base/random.ts";
import type { Redactor } from "../base/redaction.ts";
import { agentFolder, mainAgentFolder, oauthFolder, type Config, type Env, type OpenClawConfig, type PathContext } from "../config/index.ts";
import { currentHooks, type Hooks } from "../hooks/index.ts";
import { type Budgets } from "./budgets/budgets.ts";
import { type Models } from "./create-models.ts";
import { type PluginProvider } from "./catalogue/catalogue.ts";
import { type RawLog } from "./call/driver.ts";
import type { Store } from "../store/index.ts";
import type { RawStream } from "./raw-stream.ts";

export interface LazyModelsDeps {
  readonly config: Config;
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly random: Random;
  readonly log: Logger;
  readonly env: Env;
  readonly version: string;
  readonly redactor: Redactor;
  /** Of plugins, once they run. */
  readonly hooks: () => Pick<Hooks, "has" | "run"> | undefined;
  readonly providers: () => readonly PluginProvider[];
  /** File that gets every event of every provider; undefined for none. */
  readonly rawStream?: string | undefined;
}

/** Models and their budgets, created when they are first needed. */
export interface LazyModels extends AsyncDisposable {
  models(): Promise<Models>;
  budgets(): Promise<Budgets>;
}

export function createLazyModels(deps: LazyModelsDeps): LazyModels {
  const { config, env, clock, store } = deps;
  const paths: PathContext = { env, exists: existsSync, osHome: homedir(), cwd: config.paths.home };
  const agentDir = (agentId: string): string => {
    const agent = config.current.agents?.list?.find(({ id }) => id.toLowerCase() === agentId.toLowerCase());
    return agent ? agentFolder(paths, agent) : agentId === "main" ? mainAgentFolder(paths) : agentFolder(paths, { id: agentId });
  };
  const current = (): OpenClawConfig => config.current;
  let raw: RawStream | undefined;

  async function openRaw(file: string): Promise<RawLog> {
    const { createRawStream } = await import("./raw-stream.ts");
    deps.log.warn(`raw provider responses are written to ${file}, conversations included`);
    raw = createRawStream({ file, clock, log: deps.log.subsystem("models"), redactor: deps.redactor });
    return raw.rawLog;
  }

  async function openModels(): Promise<Models> {
    const { createModels } = await import("./create-models.ts");
    return createModels({
      ...deps,
      ...(deps.rawStream === undefined ? {} : { rawLog: await openRaw(deps.rawStream) }),
      config: current,
      env: config.env,
      secret: (input, path) => config.resolveSecret(input, path),
      agentDir,
      mainAgentDir: mainAgentFolder(paths),
      oauthFile: `${oauthFolder(paths)}/oauth.json`,
      log: deps.log.subsystem("models"),
      hooks: currentHooks(deps.hooks),
      plugins: deps.providers,
      packagesFrom: [config.paths.state, import.meta.dirname],
    });
  }

  return {
    models: lazy(openModels),
    budgets: lazy(async () =>
      (await import("./budgets/index.ts")).createBudgets({ store, clock, config: current, reserved: (budget) => store.read("subagents.reserved", budget) }),
    ),
    [Symbol.asyncDispose]: async () => raw?.[Symbol.asyncDispose](),
  };
}
