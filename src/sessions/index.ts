/**
 * Session keys, entries, transcripts, reset and send policy, the view for the model.
 * The door of the room: nothing else in this folder is imported from outside.
 */
export {
  branchSummaryEntry,
  compactionEntry,
  customEntry,
  customMessageEntry,
  headerLine,
  labelEntry,
  messageEntry,
  modelChangeEntry,
  sessionInfoEntry,
  STORED_RESULT_CHARS,
  thinkingLevelEntry,
  type CompactionFields,
  type EntryPlace,
  type HeaderFields,
  type MessageExtras,
  type NewEntry,
  type Provenance,
} from "./transcript/entries.ts";
export {
  cacheTouchEntry,
  CUSTOM,
  gatewayMessage,
  gatewayMessageEntry,
  modelSnapshotEntry,
  promptErrorEntry,
  imagesLeftOutEntry,
  resultsCutEntry,
  ZERO_USAGE,
  type PromptError,
} from "./transcript/custom.ts";
export { entryOfRow, leafForRun, nextState, pathState, readPath, readTranscript, type PathState, type ReadTranscript } from "./transcript/path.ts";
export { contextSize, estimateTokens, messageChars, tokensOfChars, type ContextSize } from "./tokens.ts";
export { contextOf, type Context } from "./view/context.ts";
export { branchText, compactionText, pathItem, type PathItem } from "./view/item.ts";
export { historyLimit, pruningSettings, viewSettings, type PruningSettings, type ViewSettings } from "./view/settings.ts";
export { view, windowTokens, type View, type ViewInput, type ViewModel } from "./view/view.ts";
export type { Dropped, Piece } from "./view/piece.ts";
export { REFUSED_IMAGE } from "./view/images.ts";
export { cutResult } from "./view/results-cut.ts";
export { createOpenSessions, openSession, type HeldPath, type OpenSession, type OpenSessions, type SessionPath } from "./open-session.ts";
export { entryAfterReset, type ResetKind } from "./entry/after-reset.ts";
export { chatFields, deliveryOf, deliveryPatch, originOf, type DeliveryContext, type Origin } from "./entry/delivery.ts";
export {
  authProfileOverride,
  modelOverride,
  queueSettings,
  turnLimitMs,
  reasoningLevel,
  thinkingLevel,
  usageFooter,
  verboseLevel,
  type Chosen,
  type ElevatedLevel,
  type QueueMode,
  type QueueSettings,
  type ReasoningLevel,
  type SettingSource,
  type UsageFooter,
  type VerboseLevel,
} from "./entry/overrides.ts";
export {
  DEFAULT_TRIGGERS,
  expiry,
  lastHour,
  resetDecision,
  resetPolicy,
  resetTrigger,
  resetType,
  type ResetDecision,
  type ResetFacts,
  type ResetPolicy,
  type ResetType,
} from "./entry/reset-policy.ts";
export { sendPolicy, type SendDecision } from "./entry/send-policy.ts";
export { knownTokens, sumUsage, usageAfterCompaction, usageAfterRun, type RunUsage } from "./entry/usage.ts";
