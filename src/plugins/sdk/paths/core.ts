/** The helpers that most channels need. */
export {
  applyAccountNameToChannelSection,
  deleteAccountFromConfigSection,
  migrateBaseNameToDefaultAccount,
  setAccountEnabledInConfigSection,
} from "../config-sections.ts";
export { buildChannelConfigSchema } from "../schemas.ts";
export { buildJsonPluginConfigSchema, buildPluginConfigSchema, definePluginEntry } from "../plugin-entry.ts";
export { createActionGate, jsonResult, readNumberParam, readReactionParams, readStringArrayParam, readStringParam } from "../params.ts";
export { createDedupeCache } from "../dedupe.ts";
export { createSubsystemLogger } from "../environment.ts";
export { DEFAULT_ACCOUNT_ID, normalizeAccountId } from "../account-ids.ts";
export { emptyPluginConfigSchema } from "../plugin-config.ts";
export { formatPairingApproveHint } from "../replies.ts";
export { generateSecureToken, generateSecureUuid, KeyedAsyncQueue } from "../identifiers.ts";
export { getChatChannelMeta } from "../channels/meta.ts";
export { isSecretRef } from "../secrets.ts";
export { normalizeAtHashSlug, normalizeHyphenSlug, parseStrictPositiveInteger } from "../coerce.ts";
export { optionalStringEnum, stringEnum } from "../string-enums.ts";
export type * from "../types/index.ts";
export type { ChannelPlugin, HostConfig as OpenClawConfig, ReplyPayload } from "../../../protocol/index.ts";
export { buildChannelOutboundSessionRoute, stripChannelTargetPrefix, stripTargetKindPrefix } from "../newer/session-keys.ts";
export { createChatChannelPlugin, defineChannelPluginEntry, defineSetupPluginEntry } from "../newer/chat-channel.ts";
export { resolveClientIp } from "../newer/webhook-guards.ts";
