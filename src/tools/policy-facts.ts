import { messageOf } from "../base/errors.ts";
import type { Logger } from "../base/log/logger.ts";
import type { Config } from "../config/index.ts";
import type { ChannelPlugin } from "../protocol/index.ts";
import type { Store } from "../store/index.ts";
import type { PolicyFacts } from "./broker/broker.ts";
import type { Sandboxes } from "./sandbox/sandboxes.ts";
import type { ToolContext } from "./tool.ts";
import { groupOfKey, groupPolicy, type GroupFacts } from "./policy/group.ts";

/**
 * What a channel's own plugin says about tools in a group; it goes before the configuration's general rules. A plugin that fails to answer is taken to allow
 * nothing there.
 */
export function channelPolicy(
  channelOf: ((id: string) => Pick<ChannelPlugin, "groups"> | undefined) | undefined,
  { config, sessionKey, spawnedBy, accountId, sender }: GroupFacts,
  log: Pick<Logger, "warn">,
): PolicyFacts["group"] {
  const found = groupOfKey(sessionKey) ?? (spawnedBy === undefined ? undefined : groupOfKey(spawnedBy));
  const groups = found && channelOf?.(found.channel)?.groups;
  if (!groups?.resolveToolPolicy) return undefined;
  const at = `the plugin of ${found!.channel} for the group ${found!.groupId}`;
  try {
    const policy = groups.resolveToolPolicy({ cfg: config, groupId: found!.groupId, accountId, senderId: sender?.id });
    return policy && { at, ...policy };
  } catch (error) {
    log.warn(`${at} could not say which tools are allowed: ${messageOf(error)}; none are`);
    return { at, deny: ["*"] };
  }
}

export interface PolicyFactsDeps {
  readonly config: Pick<Config, "current">;
  readonly store: Pick<Store, "read">;
  readonly log: Pick<Logger, "warn">;
  readonly sandboxes: Pick<Sandboxes, "isSandboxed">;
  /** The plugin of a channel that runs. */
  readonly channelOf?: ((id: string) => ChannelPlugin | undefined) | undefined;
}

/** What policy has to know about a session: its group, its sandbox, how deep a subagent it is. */
export async function policyFacts(deps: PolicyFactsDeps, context: ToolContext): Promise<PolicyFacts> {
  const { sessionKey, channel, accountId, senderId } = context;
  const config = deps.config.current;
  const spawned = /:subagent:/.test(sessionKey) ? (await deps.store.read("sessions.get", { key: sessionKey }))?.entry : undefined;
  const facts = { config, sessionKey, spawnedBy: spawned?.spawnedBy, channel, accountId, ...(senderId === undefined ? {} : { sender: { id: senderId } }) };
  const group = channelPolicy(deps.channelOf, facts, deps.log) ?? groupPolicy(facts);
  const depth = spawned?.spawnDepth ?? sessionKey.split(":subagent:").length - 1;
  const maxDepth = config.agents?.defaults?.subagents?.maxSpawnDepth ?? 1;
  return { sandboxed: deps.sandboxes.isSandboxed(context), ...(group ? { group } : {}), ...(depth > 0 ? { subagent: { depth, maxDepth } } : {}) };
}
