export { buildAgentSessionKey, parseAgentSessionKey, resolveAgentIdFromSessionKey } from "../messages/session-keys.ts";
