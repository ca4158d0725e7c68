/** Setup inside a running gateway. */
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { mainAgentFolder, type Config, type Env, type PathContext } from "../../config/index.ts";
import type { Clock } from "../../base/clock.ts";
import type { Ids } from "../../base/ids.ts";
import type { Logger } from "../../base/log/logger.ts";
import type { Redactor } from "../../base/redaction.ts";
import type { Models, PluginProvider } from "../../models/index.ts";
import { inventoryOptions, readInventory } from "../../plugins/index.ts";
import type { ChannelPlugin } from "../../protocol/index.ts";
import type { SetupHost } from "../host.ts";

export interface GatewayHostDeps {
  readonly config: Config;
  readonly env: Env;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Logger;
  readonly redactor: Redactor;
  readonly version: string;
  readonly models: () => Promise<Models>;
  readonly providers: () => readonly PluginProvider[];
  /** A channel's plugin, while it runs. */
  readonly channel: (id: string) => ChannelPlugin | undefined;
}

/** The agent whose credentials serve all. */
const EVERYBODY = "main";

export function gatewayHost(deps: GatewayHostDeps, signal: AbortSignal): SetupHost {
  const { config, env, clock, ids, redactor, version } = deps;
  const osHome = homedir();
  const cwd = config.paths.home;
  const paths: PathContext = { env, exists: existsSync, osHome, cwd };
  return {
    config,
    env,
    cwd,
    osHome,
    version,
    clock,
    ids,
    log: deps.log.subsystem("setup"),
    redactor,
    signal,
    agentDir: mainAgentFolder(paths),
    insideGateway: true,
    auth: async () => (await deps.models()).auth(EVERYBODY),
    async inventory() {
      const snapshot = config.snapshot();
      return readInventory(inventoryOptions({ config, env }, snapshot.valid && snapshot.legacy.length > 0 ? snapshot.config : snapshot.resolved));
    },
    withChannel: (id, use) => use(deps.channel(id)),
    providers: deps.providers,
    isRunning: () => true,
  };
}
