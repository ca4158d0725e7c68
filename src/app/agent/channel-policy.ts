import { messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/log/logger.ts";
import type { ChannelPlugin } from "../../protocol/index.ts";
import { groupOfKey, type GroupFacts, type PolicyFacts } from "../../tools/index.ts";

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
