/**
 * The model catalogue, wire formats, providers, auth profiles, failover, usage.
 * The door of the room. Nothing is built here yet, so nothing is exported.
 */
export {};
