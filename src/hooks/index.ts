/**
 * Typed hooks and internal hooks: names and payload types, the runner, budgets, the breaker.
 * The door of the room. Nothing is built here yet, so nothing is exported.
 */
export {};
