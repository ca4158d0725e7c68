import type { Socket } from "node:net";
import type { WebSocket, WebSocketServer } from "ws";

/** The way in which a `WebSocketServer` makes its WebSockets. The published types leave it out. */
interface ServerSide {
  new (address: null, protocols: undefined, options: object): WebSocket & { setSocket(socket: Socket, head: Buffer, options: object): void };
}

/** A WebSocket on a socket whose upgrade was answered already, with all bounds of the server. `head` was read from the socket and comes first. */
export function openUpgraded({ options }: WebSocketServer, socket: Socket, head: Buffer): WebSocket {
  const ws = new (options.WebSocket as unknown as ServerSide)(null, undefined, options);
  ws.setSocket(socket, head, options);
  return ws;
}
