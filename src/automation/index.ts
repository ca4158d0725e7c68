/**
 * Cron, heartbeat, boot, webhooks.
 * The door of the room. Nothing is built here yet, so nothing is exported.
 */
export {};
