import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";

/** A port that can be closed, and opened again on the same number. */
export interface Listener {
  readonly port: number;
  open(): Promise<void>;
  /** Resets every connection and takes no new one. */
  close(): Promise<void>;
  /** Resets every connection. */
  drop(): void;
  readonly connections: number;
}

export function createListener(handle: RequestListener): Listener {
  const sockets = new Set<Socket>();
  let server: Server | undefined;
  let port = 0;
  const drop = (): void => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  return {
    get port() {
      return port;
    },
    get connections() {
      return sockets.size;
    },
    drop,
    async open() {
      server = createServer({ keepAliveTimeout: 60_000 }, handle);
      server.on("connection", (socket) => {
        sockets.add(socket);
        socket.on("error", () => undefined);
        socket.once("close", () => sockets.delete(socket));
      });
      server.listen(port, "127.0.0.1");
      await once(server, "listening");
      port = (server.address() as AddressInfo).port;
    },
    async close() {
      const closing = server;
      server = undefined;
      if (!closing) return;
      const closed = once(closing, "close");
      closing.close();
      drop();
      await closed;
    },
  };
}

export async function collect(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts);
}
