export {
  buildPendingHistoryContextFromMap,
  clearHistoryEntriesIfEnabled,
  DEFAULT_GROUP_HISTORY_LIMIT,
  recordPendingHistoryEntryIfEnabled,
} from "../messages/history.ts";
export { createChannelHistoryWindow } from "../messages/outbound-parts.ts";
