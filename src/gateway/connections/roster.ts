import type { WebSocket } from "ws";
import { LIMITS } from "../../protocol/index.ts";
import type { Client, Connection } from "./connection.ts";
import { clipBytes, textFrame } from "./frame.ts";

/** Every socket and every client, and the ways out: writing, closing, leaving. */
export interface Roster {
  readonly connections: Map<WebSocket, Connection>;
  readonly clients: Map<string, Client>;
  /** Sends the text of a frame; nothing after the close. A reader that is too slow is closed. */
  write(connection: Connection, text: string): void;
  /** The same for a client; nothing when it has left. */
  send(client: Client, text: string): void;
  /** Closes with a code. The connection counts as gone from here on. */
  end(connection: Connection, code: number, reason: string): void;
  /** Takes the connection out of everything but `connections`. A second call does nothing. */
  leave(connection: Connection): void;
}

export interface RosterDeps {
  readonly onLeave: (connection: Connection) => void;
  readonly onClientLeave: (client: Client) => void;
}

export function createRoster({ onLeave, onClientLeave }: RosterDeps): Roster {
  const clients = new Map<string, Client>();

  function leave(connection: Connection): void {
    connection.closed = true;
    onLeave(connection);
    const { client } = connection;
    if (!client || clients.get(client.connId) !== client) return;
    clients.delete(client.connId);
    client.gone?.abort();
    onClientLeave(client);
  }

  function end(connection: Connection, code: number, reason: string): void {
    if (connection.closed) return;
    leave(connection);
    connection.ws.close(code, clipBytes(reason, LIMITS.closeReasonBytes));
  }

  return {
    connections: new Map(),
    clients,
    leave,
    end,
    write(connection, text) {
      if (connection.closed) return;
      if (connection.socket.writableLength > LIMITS.maxBufferedBytes) end(connection, 1008, "slow consumer");
      else connection.socket.write(textFrame(text));
    },
    send(client, text) {
      if (clients.get(client.connId) !== client) return;
      if (client.socket.writableLength > LIMITS.maxBufferedBytes) client.close(1008, "slow consumer");
      else client.socket.write(textFrame(text));
    },
  };
}
