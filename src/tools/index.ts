/**
 * The broker (the only place a tool runs), the policy pipeline, approvals, the sandbox and the built-in tools.
 * The door of the room. Nothing is built here yet, so nothing is exported.
 */
export {};
