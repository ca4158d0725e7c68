/** The client for programs on Node: sockets of `ws`, and an identity with its tokens in a state folder. */
import { connect, type GatewayClient } from "./client.ts";
import { fileTokens, loadDeviceFile } from "./device-file.ts";
import { loadNodeSockets, type NodeSocketOptions } from "./node-socket.ts";
import type { ConnectOptions } from "./options.ts";
import { platformClock } from "./ports.ts";

export * from "./index.ts";
export { fileTokens, loadDeviceFile } from "./device-file.ts";
export { loadNodeSockets, type NodeSocketOptions } from "./node-socket.ts";

export interface NodeConnectOptions extends ConnectOptions, NodeSocketOptions {
  /** Folder with the identity, made when it is missing. Without it, and without `device`, the connection has no identity. */
  readonly stateDir?: string;
  /** False: tokens in the state folder are neither shown nor kept. Default true. */
  readonly keepTokens?: boolean;
}

/** Connects from Node. */
export async function connectNode({ stateDir, keepTokens = true, tlsFingerprint, ...options }: NodeConnectOptions): Promise<GatewayClient> {
  const { now } = options.clock ?? platformClock;
  const kept = stateDir === undefined ? {} : { device: loadDeviceFile(stateDir, now()), ...(keepTokens ? { deviceTokens: fileTokens(stateDir, now) } : {}) };
  const openSocket = options.openSocket ?? (await loadNodeSockets(tlsFingerprint === undefined ? {} : { tlsFingerprint }));
  return connect({ ...kept, ...options, openSocket });
}
