/**
 * The client for browsers, and the parts that are the same everywhere. Imports nothing of Node's. Programs on Node take `node.ts`, which adds
 * sockets, an identity and stored tokens.
 */
export { connect, type GatewayClient } from "./client.ts";
export type { StreamOptions } from "./events.ts";
export type { ConnectOptions, ReconnectOptions, StaleReason } from "./options.ts";
export {
  platformClock,
  type ClientClock,
  type DeviceGrant,
  type DeviceIdentity,
  type DeviceTokens,
  type OpenSocket,
  type Socket,
  type SocketHandlers,
} from "./ports.ts";
export type { RequestOptions } from "./requests.ts";
export { loadWebDevice, storedTokens, type KeyStore, type TextStorage } from "./web-device.ts";
export type { EventName, EventPayload, MethodName, MethodParams, MethodResult } from "../catalog.ts";
export type { ClientInfo, HelloOk } from "../connect.ts";
export type { EventFrame } from "../frames.ts";
export { automationOf, isMainKey, readableKey, sessionName, type Nameable } from "../../base/session-name.ts";
export { shownAnswer } from "../shown-answer.ts";
export { heartbeatText } from "../heartbeat-text.ts";
export { flatBranch, subagentTree, waitsFor, type SubagentBranch, type SubagentRoot } from "../subagent-tree.ts";
