/**
 * Bindings to an agent and a session key, with an explanation.
 * The door of the room. Nothing is built here yet, so nothing is exported.
 */
export {};
