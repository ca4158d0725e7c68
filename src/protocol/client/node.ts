/** The client for programs on Node: sockets of `ws`, and an identity with its tokens in a state folder. */
import type { TLSSocket } from "node:tls";
import { LIMITS } from "../limits.ts";
import { connect, type GatewayClient } from "./client.ts";
import { fileTokens, loadDeviceFile } from "./device-file.ts";
import type { ConnectOptions } from "./options.ts";
import { platformClock, type OpenSocket } from "./ports.ts";

export * from "./index.ts";
export { fileTokens, loadDeviceFile } from "./device-file.ts";

export interface NodeSocketOptions {
  /** SHA-256 of the certificate to accept, in hex with or without colons: for gateways that signed their own. */
  readonly tlsFingerprint?: string;
}

/** Time for the other side to close too. */
const CLOSE_MS = 1000;

const plain = (fingerprint: string): string =>
  fingerprint
    .replace(/^sha256[:/]/i, "")
    .replaceAll(":", "")
    .toLowerCase();

/** Sockets for Node. Its own `WebSocket` takes 20 ms longer to load. */
export async function loadNodeSockets({ tlsFingerprint }: NodeSocketOptions = {}): Promise<OpenSocket> {
  const { WebSocket } = await import("ws");
  return (url, handlers) => {
    const pinned = tlsFingerprint !== undefined && url.startsWith("wss:");
    const socket = new WebSocket(url, { maxPayload: LIMITS.maxPayload, perMessageDeflate: false, ...(pinned ? { rejectUnauthorized: false } : {}) });
    let failure = "";
    // No secret has been sent by then: those are in the first frame.
    socket.on("upgrade", (response) => {
      if (!pinned) return;
      const seen = (response.socket as TLSSocket).getPeerCertificate().fingerprint256 ?? "";
      if (plain(seen) === plain(tlsFingerprint)) return;
      failure = `the certificate has the fingerprint ${seen}, not the pinned one`;
      socket.terminate();
    });
    socket.on("open", () => failure === "" && handlers.onOpen());
    socket.on("message", (data: Buffer, isBinary) => !isBinary && handlers.onText(data.toString("utf8")));
    socket.on("error", (error: Error & { errors?: readonly Error[] }) => (failure ||= error.message || (error.errors?.[0]?.message ?? "unreachable")));
    socket.on("close", (code, reason) => handlers.onClose(code, reason.toString("utf8") || failure));
    return {
      send: (text) => socket.send(text),
      close(code, reason) {
        socket.close(code, reason);
        setTimeout(() => socket.terminate(), CLOSE_MS).unref();
      },
    };
  };
}

export interface NodeConnectOptions extends ConnectOptions, NodeSocketOptions {
  /** Folder with the identity, made when it is missing. Without it, and without `device`, the connection has no identity. */
  readonly stateDir?: string;
  /** False: tokens in the state folder are neither sent nor stored. Default true. */
  readonly keepTokens?: boolean;
}

/** Connects from Node. */
export async function connectNode({ stateDir, keepTokens = true, tlsFingerprint, ...options }: NodeConnectOptions): Promise<GatewayClient> {
  const { now } = options.clock ?? platformClock;
  const stored = stateDir === undefined ? {} : { device: loadDeviceFile(stateDir, now()), ...(keepTokens ? { deviceTokens: fileTokens(stateDir, now) } : {}) };
  const openSocket = options.openSocket ?? (await loadNodeSockets(tlsFingerprint === undefined ? {} : { tlsFingerprint }));
  return connect({ ...stored, ...options, openSocket });
}
