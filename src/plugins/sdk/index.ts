/**
 * `openclaw/plugin-sdk`: everything that published plugins import from the root. Newer plugins take what they need from a sub-path, which
 * loads less; see `paths/`.
 */
export { createAccountListHelpers, DEFAULT_ACCOUNT_ID, normalizeAccountId, resolveChannelAccountConfigBasePath } from "./account-ids.ts";
export {
  addWildcardAllowFrom,
  formatAllowFromLowercase,
  formatAllowlistMatchMeta,
  isAllowedParsedChatSender,
  mergeAllowFromEntries,
  mergeAllowlist,
  normalizeAllowFrom,
  resolveAllowlistMatchSimple,
  summarizeMapping,
  type AllowlistMatch,
} from "./access/allow-lists.ts";
export {
  buildChannelKeyCandidates,
  normalizeChannelSlug,
  resolveChannelEntryMatch,
  resolveChannelEntryMatchWithFallback,
  resolveNestedAllowlistDecision,
} from "./values/channel-entries.ts";
export {
  listDiscordAccountIds,
  listEnabledSlackAccounts,
  listIMessageAccountIds,
  listLineAccountIds,
  listSignalAccountIds,
  listSlackAccountIds,
  listTelegramAccountIds,
  listWhatsAppAccountIds,
  normalizeLineAccountId,
  resolveDefaultDiscordAccountId,
  resolveDefaultIMessageAccountId,
  resolveDefaultLineAccountId,
  resolveDefaultSignalAccountId,
  resolveDefaultSlackAccountId,
  resolveDefaultTelegramAccountId,
  resolveDefaultWhatsAppAccountId,
  resolveDiscordAccount,
  resolveIMessageAccount,
  resolveLineAccount,
  resolveSignalAccount,
  resolveSlackAccount,
  resolveTelegramAccount,
  resolveWhatsAppAccount,
  type ResolvedDiscordAccount,
  type ResolvedIMessageAccount,
  type ResolvedLineAccount,
  type ResolvedSignalAccount,
  type ResolvedSlackAccount,
  type ResolvedTelegramAccount,
  type ResolvedWhatsAppAccount,
} from "./channels/accounts.ts";
export {
  parseChatAllowTargetPrefixes,
  parseChatTargetPrefixesOrThrow,
  resolveServicePrefixedAllowTarget,
  resolveServicePrefixedTarget,
} from "./channels/chat-targets.ts";
export {
  DiscordConfigSchema,
  GoogleChatConfigSchema,
  IMessageConfigSchema,
  LineConfigSchema,
  MSTeamsConfigSchema,
  SignalConfigSchema,
  SlackConfigSchema,
  TelegramConfigSchema,
  WhatsAppConfigSchema,
} from "./channels/config-schemas.ts";
export type {
  GoogleChatAccountConfig,
  GoogleChatActionConfig,
  GoogleChatConfig,
  GoogleChatDmConfig,
  GoogleChatGroupConfig,
  LineAccountConfig,
  LineConfig,
  MSTeamsChannelConfig,
  MSTeamsConfig,
  MSTeamsReplyStyle,
  MSTeamsTeamConfig,
} from "./channels/config-types.ts";
export {
  listDiscordDirectoryGroupsFromConfig,
  listDiscordDirectoryPeersFromConfig,
  listSlackDirectoryGroupsFromConfig,
  listSlackDirectoryPeersFromConfig,
  listTelegramDirectoryGroupsFromConfig,
  listTelegramDirectoryPeersFromConfig,
  listWhatsAppDirectoryGroupsFromConfig,
  listWhatsAppDirectoryPeersFromConfig,
} from "./channels/directory.ts";
export {
  resolveBlueBubblesGroupRequireMention,
  resolveBlueBubblesGroupToolPolicy,
  resolveDiscordGroupRequireMention,
  resolveDiscordGroupToolPolicy,
  resolveGoogleChatGroupRequireMention,
  resolveGoogleChatGroupToolPolicy,
  resolveIMessageGroupRequireMention,
  resolveIMessageGroupToolPolicy,
  resolveSlackGroupRequireMention,
  resolveSlackGroupToolPolicy,
  resolveTelegramGroupRequireMention,
  resolveTelegramGroupToolPolicy,
  resolveWhatsAppGroupRequireMention,
  resolveWhatsAppGroupToolPolicy,
} from "./channels/group-rules.ts";
export { createActionCard, createImageCard, createInfoCard, createListCard, createReceiptCard, type CardAction, type ListItem } from "./channels/line-cards.ts";
export { hasMarkdownToConvert, processLineMessage, type LineChannelData, type ProcessedLineMessage } from "./channels/line-markdown.ts";
export { BLUEBUBBLES_ACTION_NAMES, BLUEBUBBLES_ACTIONS, BLUEBUBBLES_GROUP_ACTIONS, CHANNEL_MESSAGE_ACTION_NAMES, getChatChannelMeta } from "./channels/meta.ts";
export {
  discordOnboardingAdapter,
  imessageOnboardingAdapter,
  signalOnboardingAdapter,
  slackOnboardingAdapter,
  telegramOnboardingAdapter,
  whatsappOnboardingAdapter,
} from "./channels/platforms.ts";
export {
  collectDiscordAuditChannelIds,
  parseTelegramReplyToMessageId,
  parseTelegramThreadId,
  resolveWhatsAppHeartbeatRecipients,
  type TelegramProbe,
} from "./channels/platforms.ts";
export {
  buildSlackThreadingToolContext,
  extractSlackToolSend,
  handleSlackMessageAction,
  listSlackMessageActions,
  resolveSlackReplyToMode,
} from "./channels/slack.ts";
export {
  collectBlueBubblesStatusIssues,
  collectDiscordStatusIssues,
  collectTelegramStatusIssues,
  collectWhatsAppStatusIssues,
} from "./channels/status-issues.ts";
export {
  isWhatsAppGroupJid,
  looksLikeDiscordTargetId,
  looksLikeIMessageTargetId,
  looksLikeSignalTargetId,
  looksLikeSlackTargetId,
  looksLikeTelegramTargetId,
  looksLikeWhatsAppTargetId,
  normalizeDiscordMessagingTarget,
  normalizeDiscordOutboundTarget,
  normalizeIMessageMessagingTarget,
  normalizeSignalMessagingTarget,
  normalizeSlackMessagingTarget,
  normalizeTelegramMessagingTarget,
  normalizeWhatsAppMessagingTarget,
  normalizeWhatsAppTarget,
  resolveWhatsAppOutboundTarget,
} from "./channels/targets.ts";
export {
  applyAccountNameToChannelSection,
  deleteAccountFromConfigSection,
  migrateBaseNameToDefaultAccount,
  setAccountEnabledInConfigSection,
} from "./config/config-sections.ts";
export { createDedupeCache, type DedupeCache } from "./values/dedupe.ts";
export { approveDevicePairing, listDevicePairing, rejectDevicePairing } from "./access/device-pairing.ts";
export { emitDiagnosticEvent, isDiagnosticsEnabled, onDiagnosticEvent } from "./diagnostics.ts";
export {
  acquireFileLock,
  buildRandomTempFilePath,
  readJsonFileWithFallback,
  withFileLock,
  withTempDownloadPath,
  writeJsonFileAtomically,
  type FileLockHandle,
  type FileLockOptions,
} from "./values/files.ts";
export {
  removeAckReactionAfterReply,
  resolveControlCommandGate,
  resolveMentionGating,
  resolveMentionGatingWithBypass,
  resolveSenderCommandAuthorization,
  shouldAckReaction,
  shouldAckReactionForWhatsApp,
  type AckReactionGateParams,
  type AckReactionScope,
  type WhatsAppAckReactionMode,
} from "./access/gating.ts";
export { resolveToolsBySender } from "./access/groups.ts";
export { fetchWithSsrFGuard } from "./network/guarded-fetch.ts";
export {
  buildPendingHistoryContextFromMap,
  clearHistoryEntries,
  clearHistoryEntriesIfEnabled,
  DEFAULT_GROUP_HISTORY_LIMIT,
  recordPendingHistoryEntry,
  recordPendingHistoryEntryIfEnabled,
  type HistoryEntry,
} from "./messages/history.ts";
export { formatLocationText, toLocationContext } from "./messages/location.ts";
export { registerLogTransport, type LogTransport, type LogTransportRecord } from "./diagnostics.ts";
export { resolveChannelMediaMaxBytes } from "./media/media-limits.ts";
export { detectMime, extensionForMime, extractOriginalFilename, getFileExtension } from "../../media/index.ts";
export { createActionGate, extractToolSend, jsonResult, readNumberParam, readReactionParams, readStringParam } from "./params.ts";
export { emptyPluginConfigSchema } from "./entry/plugin-config.ts";
export { promptAccountId, promptChannelAccessConfig } from "./config/prompts.ts";
export { buildOauthProviderAuthResult } from "./network/provider-auth.ts";
export {
  buildAgentMediaPayload,
  createReplyPrefixContext,
  createReplyPrefixOptions,
  createTypingCallbacks,
  formatPairingApproveHint,
  PAIRING_APPROVED_MESSAGE,
  resolveAckReaction,
  type AgentMediaPayload,
} from "./messages/replies.ts";
export {
  DEFAULT_WEBHOOK_BODY_TIMEOUT_MS,
  DEFAULT_WEBHOOK_MAX_BODY_BYTES,
  installRequestBodyLimitGuard,
  isRequestBodyLimitError,
  readJsonBodyWithLimit,
  readRequestBodyWithLimit,
  requestBodyErrorToText,
  RequestBodyLimitError,
} from "./network/request-body.ts";
export {
  BlockStreamingCoalesceSchema,
  buildChannelConfigSchema,
  DmConfigSchema,
  DmPolicySchema,
  GroupPolicySchema,
  MarkdownConfigSchema,
  MarkdownTableModeSchema,
  requireOpenAllowFrom,
  ToolPolicySchema,
  TtsAutoSchema,
  TtsConfigSchema,
  TtsModeSchema,
  TtsProviderSchema,
} from "./config/schemas.ts";
export { recordInboundSession } from "./messages/sessions.ts";
export { isBlockedHostname, isBlockedHostnameOrIp, isPrivateIpAddress, SsrFBlockedError, type LookupFn, type SsrFPolicy } from "./network/ssrf.ts";
export { buildBaseChannelStatusSummary, collectStatusIssuesFromLastError, createDefaultChannelRuntimeState } from "./messages/status.ts";
export { optionalStringEnum, stringEnum } from "./values/string-enums.ts";
export {
  chunkTextForOutbound,
  clamp,
  escapeRegExp,
  formatDocsLink,
  formatErrorMessage,
  isSilentReplyText,
  isTruthyEnvValue,
  logAckFailure,
  logInboundDrop,
  logTypingFailure,
  missingTargetError,
  normalizeE164,
  rawDataToString,
  safeParseJson,
  SILENT_REPLY_TOKEN,
  sleep,
  stripAnsi,
  stripMarkdown,
} from "./text.ts";
export type {
  HookEntry,
  OpenClawPluginApi,
  OpenClawPluginChannelRegistration,
  OpenClawPluginCliContext,
  OpenClawPluginCliRegistrar,
  OpenClawPluginHookOptions,
} from "./types/api.ts";
export type { OpenClawPluginConfigSchema, OpenClawPluginDefinition, OpenClawPluginModule, PluginConfigUiHint } from "./types/definition.ts";
export type { WebMediaResult } from "./types/runtime-media.ts";
export type { PluginRuntime } from "./types/runtime.ts";
export { loadWebMedia } from "./media/web-media.ts";
export {
  normalizePluginHttpPath,
  normalizeWebhookPath,
  registerPluginHttpRoute,
  registerWebhookTarget,
  rejectNonPostWebhookRequest,
  resolveWebhookPath,
  resolveWebhookTargets,
} from "./network/webhooks.ts";
export { isWSL2Sync, isWSLEnv, isWSLSync } from "./values/wsl.ts";
export type * from "./root-types.ts";
