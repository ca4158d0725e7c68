import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { WebSocket } from "ws";
import { AppError } from "../../src/base/errors.ts";
import { connectNode, fileTokens, loadDeviceFile, type GatewayClient, type OpenSocket } from "../../src/protocol/client/node.ts";

/** Sockets as they come through a proxy: the client is not on this machine. */
const openForwarded: OpenSocket = (url, handlers) => {
  const socket = new WebSocket(url, { headers: { "x-forwarded-for": "203.0.113.7" } });
  socket.on("open", () => handlers.onOpen());
  socket.on("message", (data: Buffer) => handlers.onText(data.toString("utf8")));
  socket.on("error", () => {});
  socket.on("close", (code, reason) => handlers.onClose(code, reason.toString("utf8")));
  return { send: (text) => socket.send(text), close: (code, reason) => socket.close(code, reason) };
};

/** A device far away that knows the gateway's token. */
export interface Stranger {
  readonly deviceId: string;
  /** Rejects with `pairing required` until it is approved. From the second time on it comes with the device token it got. */
  connect(): Promise<GatewayClient>;
  /** Asks to be let in; gives the request's id. */
  ask(): Promise<string>;
}

export function createStranger(url: string, token: string): Stranger {
  const stateDir = mkdtempSync(join(tmpdir(), "openclaw-stranger-"));
  const device = loadDeviceFile(stateDir, Date.now());
  const client = { id: "openclaw-ios", mode: "ui", version: "1.0.0", platform: "ios", displayName: "far away" } as const;
  const deviceTokens = fileTokens(stateDir, Date.now);
  const connect = (): Promise<GatewayClient> =>
    connectNode({ url, token, device, deviceTokens, prefer: "stored", client, openSocket: openForwarded, reconnect: false });
  return {
    deviceId: device.id,
    connect,
    async ask() {
      const refused: unknown = await connect().then(
        () => undefined,
        (error: unknown) => error,
      );
      const details = refused instanceof AppError ? (refused.details["details"] as { requestId?: string } | undefined) : undefined;
      if (details?.requestId === undefined) throw new Error("expected the stranger to have to pair", { cause: refused });
      return details.requestId;
    },
  };
}
