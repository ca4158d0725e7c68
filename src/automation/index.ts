/**
 * Cron, heartbeat, boot, webhooks.
 * The entry point of the module. Nothing is built here yet, so nothing is exported.
 */
export {};
