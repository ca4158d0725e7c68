import { lockHolder } from "../../../base/instance-lock.ts";
import { stateLockPath } from "../../../config/index.ts";
import type { PluginEntry } from "../../../plugins/index.ts";
import type { MethodResult } from "../../../protocol/index.ts";
import { tryGateway } from "../../gateway-call.ts";
import { findTarget } from "../../gateway-target.ts";
import type { Io } from "../../io.ts";

export type RunningPlugin = MethodResult<"plugins.list">["plugins"][number];

const PATIENCE_MS = 2000;

/** Plugins as the gateway of this state folder has them; undefined when none runs. */
export async function runningPlugins(io: Io, stateDir: string): Promise<readonly RunningPlugin[] | undefined> {
  if (lockHolder(stateLockPath(stateDir)) === undefined) return undefined;
  const target = await findTarget(io, {});
  if (target.kind !== "local") return undefined;
  const { value } = await tryGateway(io, target, PATIENCE_MS, (client) => client.request("plugins.list", {}));
  return value?.plugins;
}

/** The same plugin in what the gateway says. One of that name from somewhere else is another. */
export const sameIn = (plugins: readonly RunningPlugin[] | undefined, { id, source }: Pick<PluginEntry, "id" | "source">): RunningPlugin | undefined =>
  plugins?.find((plugin) => plugin.id === id && plugin.source === source);

/** Names that only code knows, from the running plugin. */
const REGISTERED = [
  "toolNames",
  "hookNames",
  "channelIds",
  "providerIds",
  "gatewayMethods",
  "cliCommands",
  "services",
  "commands",
  "httpHandlers",
  "hookCount",
  "generation",
] as const;

export function registeredBy(running: RunningPlugin | undefined): Readonly<Record<string, unknown>> {
  return running ? Object.fromEntries(REGISTERED.map((key) => [key, running[key]])) : {};
}
