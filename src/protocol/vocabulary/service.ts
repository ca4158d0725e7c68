/** Something that runs while the gateway runs. */
import type { PluginLogger } from "./environment.ts";
import type { HostConfig } from "./host-config.ts";

export interface OpenClawPluginServiceContext {
  config: HostConfig;
  workspaceDir?: string | undefined;
  stateDir: string;
  logger: PluginLogger;
}

export interface OpenClawPluginService {
  id: string;
  start(ctx: OpenClawPluginServiceContext): void | Promise<void>;
  stop?(ctx: OpenClawPluginServiceContext): void | Promise<void>;
}
