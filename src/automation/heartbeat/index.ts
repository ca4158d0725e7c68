/** Heartbeats, loaded with the first. */
export { createHeartbeat } from "./heartbeat.ts";
export { lastHeartbeat } from "./run-beat.ts";
