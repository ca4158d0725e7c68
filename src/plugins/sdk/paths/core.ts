/** The helpers that most channels need. */
export {
  applyAccountNameToChannelSection,
  deleteAccountFromConfigSection,
  migrateBaseNameToDefaultAccount,
  setAccountEnabledInConfigSection,
} from "../config/config-sections.ts";
export { buildChannelConfigSchema } from "../config/schemas.ts";
export { buildJsonPluginConfigSchema, buildPluginConfigSchema, definePluginEntry } from "../entry/plugin-entry.ts";
export { createActionGate, jsonResult, readNumberParam, readReactionParams, readStringArrayParam, readStringParam } from "../params.ts";
export { createDedupeCache } from "../values/dedupe.ts";
export { createSubsystemLogger } from "../environment.ts";
export { DEFAULT_ACCOUNT_ID, normalizeAccountId } from "../account-ids.ts";
export { emptyPluginConfigSchema } from "../entry/plugin-config.ts";
export { formatPairingApproveHint } from "../messages/replies.ts";
export { generateSecureToken, generateSecureUuid, KeyedAsyncQueue } from "../values/identifiers.ts";
export { getChatChannelMeta } from "../channels/meta.ts";
export { isSecretRef } from "../config/secrets.ts";
export { normalizeAtHashSlug, normalizeHyphenSlug, parseStrictPositiveInteger } from "../values/coerce.ts";
export { optionalStringEnum, stringEnum } from "../values/string-enums.ts";
export type * from "../types/index.ts";
export type { ChannelPlugin, HostConfig as OpenClawConfig, ReplyPayload } from "../../../protocol/index.ts";
export { buildChannelOutboundSessionRoute, stripChannelTargetPrefix, stripTargetKindPrefix } from "../messages/session-keys.ts";
export { createChatChannelPlugin, defineChannelPluginEntry, defineSetupPluginEntry } from "../entry/chat-channel.ts";
export { resolveClientIp } from "../network/webhook-guards.ts";
