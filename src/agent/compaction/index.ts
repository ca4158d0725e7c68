/** Compaction: when it is due, what it does, and what is left when it does not help. */
export { compact, type CompactRequest, type CompactResult } from "./compact.ts";
export { cutText, fitMessages, leftOutText, withoutImages, type LeftOut } from "./fit.ts";
export { cutResultsTo, MAX_OVERFLOW_ROUNDS, OVERFLOW_TEXT, ROUNDS_WITH_MODEL, shrinkPath, shrinkToolResults } from "./overflow.ts";
export { planCompaction, type CompactionPlan } from "./plan.ts";
export type { Ask } from "./question.ts";
export {
  compactionDue,
  compactionSettings,
  compactionSizes,
  memoryFlushDue,
  memoryFlushed,
  memoryFlushPrompts,
  memoryFlushThreshold,
  windowCheck,
  type FlushInput,
} from "./settings.ts";
