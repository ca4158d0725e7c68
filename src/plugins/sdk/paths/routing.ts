export { DEFAULT_ACCOUNT_ID, normalizeAccountId, normalizeOptionalAccountId } from "../account-ids.ts";
export { resolveAccountEntry } from "../config/account-lists.ts";
export {
  buildAgentMainSessionKey,
  buildAgentSessionKey,
  DEFAULT_MAIN_KEY,
  isCronSessionKey,
  isSubagentSessionKey,
  normalizeAgentId,
  normalizeMainKey,
  parseAgentSessionKey,
  resolveAgentIdFromSessionKey,
  resolveThreadSessionKeys,
} from "../messages/session-keys.ts";
