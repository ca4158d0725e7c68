/**
 * Entries of sessions, transcripts, reset and send policy, the view for the model.
 * The entry point: nothing else in this folder is imported from outside.
 */
export {
  branchEntry,
  branchSummaryEntry,
  cacheTouchEntry,
  compactionEntry,
  CUSTOM,
  customEntry,
  customMessageEntry,
  gatewayMessage,
  gatewayMessageEntry,
  headerLine,
  imagesLeftOutEntry,
  labelEntry,
  messageEntry,
  modelChangeEntry,
  modelSnapshotEntry,
  promptErrorEntry,
  resultsCutEntry,
  sessionInfoEntry,
  STORED_RESULT_CHARS,
  thinkingLevelEntry,
  ZERO_USAGE,
  type CompactionFields,
  type EntryPosition,
  type HeaderFields,
  type MessageExtras,
  type NewEntry,
  type PromptError,
  type Provenance,
} from "./transcript.ts";
export { newestLines, newestRows } from "./newest-rows.ts";
export { entryOfRow, leafForRun, nextState, pathState, readPath, readTranscript, type PathState, type ReadTranscript } from "./transcript.ts";
export {
  contextSize,
  estimateTokens,
  knownTokens,
  messageChars,
  sumUsage,
  tokensOfChars,
  usageAfterCompaction,
  usageAfterRun,
  type ContextSize,
  type RunUsage,
} from "./usage.ts";
export { branchText, compactionText, contextOf, pathItem, type Context, type PathItem, type Piece } from "./view/item.ts";
export { historyLimit, pruningSettings, viewSettings, type PruningSettings, type ViewSettings } from "./view/settings.ts";
export { view, windowTokens, type Dropped, type View, type ViewInput, type ViewModel } from "./view/view.ts";
export { readUserMessage, REFUSED_IMAGE } from "./view/read-message.ts";
export { cutResult } from "./view/shorten.ts";
export type { HeldPath, SessionPath } from "./branch.ts";
export { createOpenSessions, openSession, KEPT, SYSTEM_EVENTS, UNTIL_HEARD, type OpenSession, type OpenSessions } from "./open-session.ts";
export { chatFields, deliveryOf, deliveryPatch, originOf, type DeliveryContext, type Origin } from "./entry/delivery.ts";
export {
  authProfileOverride,
  modelOverride,
  queueSettings,
  reasoningLevel,
  decideByRules,
  sendPolicy,
  thinkingLevel,
  turnLimitMs,
  usageFooter,
  verboseLevel,
  type Chosen,
  type ElevatedLevel,
  type QueueMode,
  type QueueSettings,
  type ReasoningLevel,
  type SendDecision,
  type SettingSource,
  type UsageFooter,
  type VerboseLevel,
} from "./entry/settings.ts";
export {
  DEFAULT_TRIGGERS,
  entryAfterReset,
  expiry,
  lastHour,
  resetDecision,
  resetPolicy,
  resetTrigger,
  resetType,
  type ResetDecision,
  type ResetFacts,
  type ResetKind,
  type ResetPolicy,
  type ResetType,
} from "./entry/reset.ts";
