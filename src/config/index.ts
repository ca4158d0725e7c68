/**
 * Configuration: the file, what it includes and the environment become one checked value; edits keep the user's text; changes become actions.
 * The entry point: nothing else in this folder is imported from outside.
 */
import type * as InEffect from "./in-effect.ts";

export { openConfig, type Config, type ConfigEvent, type ConfigOptions, type EditOptions } from "./config.ts";
export { loadConfig, type Loaded, type LoadOptions } from "./load.ts";
export { formatLocated, type LocatedIssue, type Snapshot } from "./snapshot.ts";
export type { ConfigEdit, ReviewWrite } from "./write/index.ts";
export type { OpenClawConfig } from "./schema/index.ts";
export type { ConfigSections, Issue, JsonSchema, KnownNames } from "./validate/index.ts";
export {
  BUILTIN_TOOL_NAMES,
  isSensitivePath,
  isTooDeep,
  hasUnexplainedNames,
  nameIssues,
  parseDuration,
  parseSize,
  pluginsExist,
  pluginsSection,
  validate,
} from "./validate/index.ts";
export {
  CHANNEL_IDS,
  channelKey,
  CHANNELS_LISTED_FIRST,
  DEFAULT_CHANNEL,
  knownChannel,
  KNOWN_CHANNELS,
  takesVoiceNotes,
  type KnownChannel,
} from "./known-channels.ts";
export { describeSchema, type DescribedSections, type SchemaDescription, type SectionText } from "./describe-schema.ts";
export { dottedPath, formatPath, parsePath } from "./path.ts";
export { hasPath, isObject, mergePatch, sameValue, valueAt, withoutPath, withValue } from "./value.ts";
export { changesBetween, diffPaths } from "./diff.ts";
export type { ConfigCheck, ConfigReview, ListedVersion, ReloadWords, ShownChange, TextEdit } from "./review/index.ts";
export { isKept, loadLastGood } from "./last-good.ts";
export { missingFile } from "./missing-file.ts";
export { planReload, type ReloadAction, type ReloadMode, type ReloadPlan } from "./reload-rules.ts";
export { REDACTED, redactConfig, restoreRedacted } from "./redact.ts";
export type { RunProgram, SecretInput } from "./secrets.ts";
export { SHELL_VARIABLES, type RunShell } from "./shell-environment.ts";
export type { Migrated, MigrationReport } from "./migrate/index.ts";
export { diskFiles, type ConfigFiles } from "./source-files.ts";
export { isTruthy, type Env } from "./env.ts";
export {
  agentFolder,
  checkedId,
  configFile,
  derivedPorts,
  expandHome,
  gatewayPort,
  homeFolder,
  isManaged,
  lockFile,
  mainAgentFolder,
  oauthFolder,
  sessionIndexFile,
  stateFolder,
  workspaceFolder,
  type PathContext,
} from "./paths.ts";
export { profileEnv, type ProfileResult } from "./profile.ts";
export { parseDocument, parseValueText, type ConfigDocument, type Position, type ValuePath } from "./document/document.ts";
export { agentPaths, agentWorkspace, agentWorkspaces, defaultAgentId } from "./agent-workspace.ts";
export {
  HEARTBEAT_PROMPT,
  heartbeatAgents,
  heartbeatSettings,
  heartbeatVisibility,
  isActiveHour,
  type HeartbeatSettings,
  type HeartbeatVisibility,
} from "./heartbeat.ts";
export { asksChats } from "./asks-chats.ts";
export { namesPlugins, touchesPluginSettings } from "./names-plugins.ts";
export { acquireStateLock, checkStart, startRefusal, stateLockPath, type StateLock } from "./gateway-start.ts";
export { createReload, type Reload } from "./reload.ts";

/** Defaults for showing, loaded on demand: nothing that runs needs them. */
export const loadInEffect = (): Promise<typeof InEffect> => import("./in-effect.ts");
