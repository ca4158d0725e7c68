/**
 * The channel contract, docks, the manager, allowlists, pairing.
 * The door of the room. Nothing is built here yet, so nothing is exported.
 */
export {};
