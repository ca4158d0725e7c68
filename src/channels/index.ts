/**
 * Shared by all channels: access, pairing, running accounts, rich text, and processing a message before it reaches a session.
 * Entry point of the module.
 */
export { decideAccess } from "./access/decide-access.ts";
export type { AccessGranted, AccessRequest, AccessReason, AccessRefused, AccessDecision } from "./access/decision.ts";
export { isOwner, namedOwners, ownerEntry, ownersBy, withOwner, type IsOwner, type KnownSender, type NamedOwners } from "./access/owners.ts";
export { accountKey, effectiveChannelConfig } from "./access/settings.ts";
export {
  COMMANDS,
  commandNamed,
  hasControlCommand,
  isAbortWord,
  isControlCommandMessage,
  isOurName,
  isStopMessage,
  mayHoldCommand,
  readCommand,
  shouldComputeCommandAuthorized,
  shouldHandleTextCommands,
  type CommandFacts,
  type CommandGroup,
  type CommandTextOptions,
  type WrittenCommand,
} from "./inbound/commands.ts";
export { createInboundDebouncer, type Debouncer, type DebouncerOptions } from "./inbound/debounce.ts";
export {
  canonicalChatType,
  conversationLabel,
  finalizeInboundContext,
  formatAgentEnvelope,
  formatInboundEnvelope,
  formatSenderLabel,
  resolveEnvelopeFormatOptions,
  type Envelope,
  type EnvelopeOptions,
  type EnvelopeSender,
  type FinalizeOptions,
} from "./inbound/envelope.ts";
export { buildMentionRegexes, matchesMentionPatterns, matchesMentionWithExplicit, normalizeMentionText } from "./inbound/mentions.ts";
export { createChannels } from "./manager/channels.ts";
export { defaultAccount } from "./manager/account.ts";
export { createChannelActivity, type ChannelActivity } from "./manager/health.ts";
export { AGENT_CAPABILITIES, CAPABILITIES, inOrder } from "./manager/status.ts";
export type {
  AccountHealth,
  AccountState,
  ChannelAccount,
  ChannelLogout,
  Channels,
  ChannelsDeps,
  ChannelsStatus,
  ChannelTable,
  Misconfiguration,
  QrLogin,
} from "./manager/types.ts";
export { createAllowLists, type AllowLists, type AllowListsDeps } from "./pairing/allow-lists.ts";
export { createAllowed, type Allowed, type AllowedDeps, type AllowedSender } from "./pairing/allowed.ts";
export {
  createPairing,
  pairingReply,
  type AllowEntry,
  type PairedSender,
  type Pairing,
  type PairingDeps,
  type PairingMeta,
  type PairingRequest,
} from "./pairing/pairing.ts";
export { loadRichText, type PieceOptions, type RenderedPiece, type RichTextTools } from "./rich-text/load.ts";
export { toMarkdown } from "./rich-text/markdown.ts";
export { GOOGLE_CHAT_MARKERS, SLACK_MARKERS, toMarkers, WHATSAPP_MARKERS, type MarkerTable } from "./rich-text/markers.ts";
export type { MarkdownOptions } from "./rich-text/parse.ts";
export { expandLinks, toPlain, toStyleRanges } from "./rich-text/plain.ts";
export { splitRich, type SplitOptions } from "./rich-text/split.ts";
export { toTelegramHtml } from "./rich-text/telegram.ts";
export {
  agentIdentity,
  channelSections,
  messageSetting,
  resolveAckReaction,
  resolveChunkMode,
  resolveHumanDelayConfig,
  resolveInboundDebounceMs,
  resolveMarkdownTableMode,
  resolveTextChunkLimit,
  sectionOf,
  shouldAckReaction,
  shouldAckReactionForWhatsApp,
  type AckReactionGateParams,
  type AckReactionScope,
  type MessageScope,
  type Section,
  type WhatsAppAckReactionMode,
} from "./settings.ts";
export {
  chunkByNewline,
  chunkByParagraph,
  chunkMarkdownText,
  chunkMarkdownTextWithMode,
  chunkText,
  chunkTextWithMode,
  findFences,
  wholeCharacter,
  type Fence,
  type LineOptions,
} from "./text/chunks.ts";
export { convertMarkdownTables } from "./text/tables.ts";
