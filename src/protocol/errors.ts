/** Codes of an error in a response. `NOT_LINKED` and `AGENT_TIMEOUT` are reserved: they are declared and never sent. */
export const PROTOCOL_ERROR_CODES = ["INVALID_REQUEST", "UNAVAILABLE", "NOT_PAIRED", "NOT_LINKED", "AGENT_TIMEOUT"] as const;
export type ProtocolErrorCode = (typeof PROTOCOL_ERROR_CODES)[number];
