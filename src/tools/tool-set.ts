import type { Logger } from "../../base/log/logger.ts";
import type { ImageFitter } from "../../media/index.ts";
import {
  groupOfKey,
  groupPolicy,
  type Approvals,
  type ExecRules,
  type FileAccess,
  type GroupFacts,
  type PolicyFacts,
  type Processes,
  type RememberedCommands,
  type Sandboxes,
  type Tool,
  type ToolContext,
} from "../../tools/index.ts";
import { createCoreTools } from "./core-tools.ts";
import type { AppAgentDeps } from "./index.ts";
import { pluginTools } from "./plugin-tools.ts";
import { messageOf } from "../../base/errors.ts";
import type { ChannelPlugin } from "../../protocol/index.ts";

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

export interface ToolShelfDeps extends AppAgentDeps {
  readonly log: Logger;
  readonly home: string;
  readonly fitImages: ImageFitter;
  readonly approvals: Approvals;
  readonly execRules: ExecRules;
  readonly fileAccess: FileAccess;
  readonly remembered: RememberedCommands;
  readonly processes: Processes;
  readonly sandboxes: Sandboxes;
  /** Names of programs that may run unasked where the rules say so. */
  readonly skillPrograms: (context: Pick<ToolContext, "workspaceDir">) => Promise<readonly string[]>;
}

/** Every tool there is, before policy. */
export interface ToolShelf {
  readonly tools: (context: ToolContext) => Promise<readonly Tool[]>;
  readonly facts: (context: ToolContext) => Promise<PolicyFacts>;
}

export function createToolShelf(deps: ToolShelfDeps): ToolShelf {
  const own = createCoreTools(deps);
  const ofGateway = deps.gatewayTools;
  return {
    async tools(context) {
      const sandboxed = deps.sandboxes.isSandboxed(context);
      const withheld = new Set(deps.sandboxes.withheld(context));
      const tools = [...own(context), ...(ofGateway ? await ofGateway() : []), ...pluginTools(deps.plugins.agent(), context, { sandboxed })];
      return withheld.size === 0 ? tools : tools.filter(({ name }) => !withheld.has(name));
    },
    facts: (context) => policyFacts(deps, context),
  };
}

/** What policy has to know about a session: its group, its sandbox, how deep a subagent it is. */
async function policyFacts(deps: ToolShelfDeps, context: ToolContext): Promise<PolicyFacts> {
  const { sessionKey, channel, accountId, senderId } = context;
  const config = deps.config.current;
  const spawned = /:subagent:/.test(sessionKey) ? (await deps.store.read("sessions.get", { key: sessionKey }))?.entry : undefined;
  const place = { config, sessionKey, spawnedBy: spawned?.spawnedBy, channel, accountId, ...(senderId === undefined ? {} : { sender: { id: senderId } }) };
  const group = channelPolicy(deps.channelOf, place, deps.log) ?? groupPolicy(place);
  const depth = spawned?.spawnDepth ?? sessionKey.split(":subagent:").length - 1;
  const maxDepth = config.agents?.defaults?.subagents?.maxSpawnDepth ?? 1;
  return { sandboxed: deps.sandboxes.isSandboxed(context), ...(group ? { group } : {}), ...(depth > 0 ? { subagent: { depth, maxDepth } } : {}) };
}
