import {
  agentIdsAreUsable,
  avatarsInWorkspace,
  boundAgentsExist,
  broadcastAgentsExist,
  hookAgentsExist,
  mainKeyIsMain,
  oneDefaultAgent,
  separateAgentDirs,
  uniqueAgentIds,
} from "./agents.ts";
import { forwardingHasRecipients, sessionFiltersAreReadable } from "./approvals.ts";
import { cronWebhookIsHttp, profilesHaveAddress } from "./browser-and-cron.ts";
import { channelsExist, heartbeatTargetsExist, openChannelsSayIt } from "./channels.ts";
import { customBindNeedsHost, openBindNeedsAuth, passwordModeNeedsPassword, portExists, tailscaleFitsBindAndAuth, trustedProxyIsComplete } from "./gateway.ts";
import { hookModulesAreRelative, hookPrefixesAdmitDefault, hooksNeedToken, hooksPathIsBelowRoot, hooksTokenIsOwn } from "./hooks.ts";
import { modelParamsAreKnown } from "./models.ts";
import {
  bundledSkillsExist,
  chosenModelsExist,
  configuredChannelsExist,
  deniedPluginsExist,
  hookPresetsExist,
  namedAgentsExist,
  namedPartnersExist,
  namedSendersExist,
  toolsExist,
} from "./names.ts";
import { disabledPluginConfig, pluginsExist } from "./plugins.ts";
import type { Rule } from "./rule.ts";
import { sandboxStaysClosed } from "./sandbox.ts";
import { heartbeatTimes, lenientDurations, sessionMaintenance } from "./times.ts";
import { oneAllowList, risingLoopThresholds } from "./tools.ts";
import { budgetAgentsExist, budgetsLimitSomething } from "./usage.ts";

export const rules: readonly Rule[] = [
  uniqueAgentIds,
  agentIdsAreUsable,
  oneDefaultAgent,
  separateAgentDirs,
  avatarsInWorkspace,
  boundAgentsExist,
  broadcastAgentsExist,
  hookAgentsExist,
  mainKeyIsMain,
  heartbeatTimes,
  heartbeatTargetsExist,
  sessionMaintenance,
  lenientDurations,
  oneAllowList,
  risingLoopThresholds,
  sandboxStaysClosed,
  hooksNeedToken,
  hooksTokenIsOwn,
  hooksPathIsBelowRoot,
  hookModulesAreRelative,
  hookPrefixesAdmitDefault,
  portExists,
  openBindNeedsAuth,
  customBindNeedsHost,
  passwordModeNeedsPassword,
  tailscaleFitsBindAndAuth,
  trustedProxyIsComplete,
  profilesHaveAddress,
  cronWebhookIsHttp,
  channelsExist,
  openChannelsSayIt,
  pluginsExist,
  disabledPluginConfig,
  modelParamsAreKnown,
  budgetsLimitSomething,
  budgetAgentsExist,
  forwardingHasRecipients,
  sessionFiltersAreReadable,
  toolsExist,
  deniedPluginsExist,
  namedAgentsExist,
  namedPartnersExist,
  configuredChannelsExist,
  namedSendersExist,
  chosenModelsExist,
  bundledSkillsExist,
  hookPresetsExist,
];
