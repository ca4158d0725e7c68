import { openChats, owners } from "./checks/access.ts";
import { configFile, configKeys, configLegacy, configRemarks, gatewayAuth, gatewayMode } from "./checks/config.ts";
import { channels, plugins, skills } from "./checks/extensions.ts";
import { channelAccounts, gatewayHealth } from "./checks/gateway.ts";
import { legacyState } from "./checks/legacy-state.ts";
import { sessionLocks } from "./checks/locks.ts";
import { defaultModel, gmailModel, memorySearch, modelKeys } from "./checks/models.ts";
import { configNames } from "./checks/names.ts";
import { clockSkew, controlUi, nodeVersion, oldVariables, timeZone } from "./checks/program.ts";
import { sandbox } from "./checks/sandbox.ts";
import { linger, otherInstances, otherServices, serviceFile } from "./checks/service.ts";
import { fileModes, stateFolder, stateFolders, stateParts } from "./checks/state.ts";
import { freeDisk, storeFile, transcripts } from "./checks/store.ts";
import { workspaceTips } from "./checks/workspace.ts";
import type { Check } from "./finding.ts";

/** Every check, in the documented order: what is repaired early is seen by what comes later. */
export const CHECKS: readonly Check[] = [
  nodeVersion,
  controlUi,
  oldVariables,
  clockSkew,
  timeZone,
  configFile,
  configNames,
  configKeys,
  configLegacy,
  configRemarks,
  gatewayMode,
  modelKeys,
  defaultModel,
  gatewayAuth,
  legacyState,
  stateFolder,
  stateParts,
  fileModes,
  stateFolders,
  storeFile,
  freeDisk,
  transcripts,
  sessionLocks,
  sandbox,
  serviceFile,
  otherServices,
  linger,
  otherInstances,
  openChats,
  owners,
  gmailModel,
  skills,
  plugins,
  memorySearch,
  workspaceTips,
  gatewayHealth,
  channels,
  channelAccounts,
];
