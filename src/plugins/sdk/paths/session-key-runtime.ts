export { buildAgentSessionKey, parseAgentSessionKey, resolveAgentIdFromSessionKey } from "../newer/session-keys.ts";
