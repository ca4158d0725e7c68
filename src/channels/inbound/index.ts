/** Processing of inbound messages on every channel, before a session sees them. */
export { createChannelActivity, type ChannelActivity } from "./activity.ts";
export { COMMANDS, commandNamed, type CommandFacts, type CommandGroup } from "./command-table.ts";
export {
  hasControlCommand,
  isAbortWord,
  isStopMessage,
  isControlCommandMessage,
  isOurName,
  readCommand,
  shouldComputeCommandAuthorized,
  shouldHandleTextCommands,
  type CommandTextOptions,
  type WrittenCommand,
} from "./commands.ts";
export { conversationLabel, finalizeInboundContext, type FinalizeOptions } from "./context.ts";
export { createInboundDebouncer, resolveInboundDebounceMs, type Debouncer, type DebouncerOptions } from "./debounce.ts";
export { resolveHumanDelayConfig } from "./delay.ts";
export {
  canonicalChatType,
  formatAgentEnvelope,
  formatInboundEnvelope,
  formatSenderLabel,
  resolveEnvelopeFormatOptions,
  type Envelope,
  type EnvelopeOptions,
  type EnvelopeSender,
} from "./envelope.ts";
export { buildMentionRegexes, matchesMentionPatterns, matchesMentionWithExplicit, normalizeMentionText } from "./mentions.ts";
