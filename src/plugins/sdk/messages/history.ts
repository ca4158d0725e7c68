/** Unanswered messages of a group, kept until the agent is next asked. */

export const DEFAULT_GROUP_HISTORY_LIMIT = 50;

const MAX_KEYS = 1000;
const BEFORE = "[Messages in this chat since your last reply, for context]";
const NOW = "[The message to answer]";

export interface HistoryEntry {
  sender: string;
  body: string;
  /** Milliseconds since the epoch. */
  timestamp?: number | undefined;
  messageId?: string | undefined;
}

interface Place<T> {
  historyMap: Map<string, T[]>;
  historyKey: string;
}

/** Adds an entry, keeps the newest `limit`, and drops the chats that have been quiet longest once there are more than 1000. */
export function recordPendingHistoryEntry<T extends HistoryEntry>(params: Place<T> & { entry: T; limit: number }): T[] {
  const { historyMap, historyKey, entry, limit } = params;
  if (limit <= 0) return [];
  const history = [...(historyMap.get(historyKey) ?? []), entry].slice(-limit);
  historyMap.delete(historyKey);
  historyMap.set(historyKey, history);
  for (const key of historyMap.keys()) {
    if (historyMap.size <= MAX_KEYS) break;
    historyMap.delete(key);
  }
  return history;
}

/** As {@link recordPendingHistoryEntry}; nothing where the limit is 0 or there is no entry. */
export function recordPendingHistoryEntryIfEnabled<T extends HistoryEntry>(params: Place<T> & { entry?: T | null | undefined; limit: number }): T[] {
  const { entry } = params;
  return entry ? recordPendingHistoryEntry({ ...params, entry }) : [];
}

/** The current message with the kept ones before it. */
export function buildPendingHistoryContextFromMap(
  params: Place<HistoryEntry> & {
    limit: number;
    currentMessage: string;
    formatEntry(entry: HistoryEntry): string;
    lineBreak?: string | undefined;
  },
): string {
  const { currentMessage, lineBreak = "\n" } = params;
  const kept = params.limit > 0 ? (params.historyMap.get(params.historyKey) ?? []) : [];
  const text = kept.map((entry) => params.formatEntry(entry)).join(lineBreak);
  return text.trim() ? [BEFORE, text, "", NOW, currentMessage].join(lineBreak) : currentMessage;
}

export function clearHistoryEntries(params: Place<HistoryEntry>): void {
  params.historyMap.set(params.historyKey, []);
}

export function clearHistoryEntriesIfEnabled(params: Place<HistoryEntry> & { limit: number }): void {
  if (params.limit > 0) clearHistoryEntries(params);
}
