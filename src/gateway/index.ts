/**
 * The hub that clients, devices and web pages talk to. Today: one HTTP port with `/health` and a page that says so.
 * The door of the room.
 */
export { createGateway, type Gateway, type GatewayDeps } from "./http-server.ts";
export type { HealthReport, HealthState } from "./health.ts";
