/** WebSocket connections: from the challenge to the close. The door of this folder. */
export { createConnections } from "./connections.ts";
export type { Client } from "./connection.ts";
export type { HelloFacts } from "./hello.ts";
