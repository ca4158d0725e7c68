import type { Socket } from "node:net";
import type { WebSocket } from "ws";
import { printableName } from "../../base/printable.ts";
import { LIMITS, type ConnectParams, type RequestFrame, type Role } from "../../protocol/index.ts";
import type { Admitted, AuthMethod, PeerRequest } from "../auth/index.ts";
import type { Recipient } from "../fanout.ts";
import type { Caller } from "../methods/index.ts";
import { clipBytes, textFrame } from "./frames.ts";

/** Requests that one connection may send at once, and per second in the long run: above what the gateway answers to one that waits for its answers. */
export const REQUEST_BURST = 100_000;

/** What is only needed until hello, and let go then. */
export interface Opening {
  readonly nonce: string;
  readonly request: PeerRequest;
  readonly deadline: Disposable;
  /** Bytes that came so far. */
  bytes: number;
  /** The one frame that may come before hello is here. */
  started: boolean;
}

/** Requests of a client that has too many open: nothing more is read while they wait. */
export interface Held {
  readonly frames: RequestFrame[];
  timer: Disposable;
  /** One of them was started since the timer was set. */
  moved: boolean;
}

/** A client after hello. One object without closures or timers of its own: there can be thousands. */
export class Client implements Recipient {
  readonly connId: string;
  readonly role: Role;
  readonly scopes: ReadonlySet<string>;
  readonly caps: ReadonlySet<string>;
  readonly socket: Socket;
  readonly caller: Caller;
  readonly method: AuthMethod;
  readonly #connection: Connection;
  readonly #end: Roster["end"];
  followed: Set<string> | undefined = undefined;
  /** Key of its presence entry, when it has one. */
  presenceKey: string | undefined = undefined;
  /** Requests without a final answer. */
  inFlight = 0;
  held: Held | undefined = undefined;
  /** Requests it may send now; refilled with time. */
  credit = REQUEST_BURST;
  creditAt: number;
  /** Made with the first request; aborted when the connection ends. */
  gone: AbortController | undefined = undefined;

  constructor(connection: Connection, params: ConnectParams, admitted: Admitted, now: number, end: Roster["end"]) {
    const caller = callerOf(connection.connId, params, admitted);
    this.connId = connection.connId;
    this.role = caller.role;
    this.scopes = caller.scopes;
    this.caps = caller.caps;
    this.socket = connection.socket;
    this.caller = caller;
    this.method = admitted.method;
    this.creditAt = now;
    this.#connection = connection;
    this.#end = end;
  }
  /** Stops reading what it sends, except for what one read already brought. */
  pause(): void {
    this.#connection.ws.pause();
  }
  resume(): void {
    this.#connection.ws.resume();
  }
  /** Asks for a sign of life. */
  ping(): void {
    if (!this.#connection.closed) this.#connection.ws.ping();
  }
  /** Ends the connection without waiting for the other side. */
  cutOff(): void {
    this.#connection.ws.terminate();
  }
  close(code: number, reason: string): void {
    this.#end(this.#connection, code, reason);
  }
}

/** Most nodes have neither scopes nor capabilities, and an empty set of its own takes as much as the rest of a client. */
const NONE: ReadonlySet<never> = new Set<never>();
const setOf = <T>(values: Iterable<T> | undefined): ReadonlySet<T> => {
  const set = new Set(values);
  return set.size === 0 ? NONE : set;
};

function callerOf(connId: string, { client, caps }: ConnectParams, admitted: Admitted): Caller {
  const { id, mode, version, platform, instanceId } = client;
  const displayName = client.displayName === undefined ? undefined : printableName(client.displayName) || undefined;
  return {
    connId,
    role: admitted.role,
    scopes: setOf(admitted.scopes),
    client: { id, mode, version, platform, ...(displayName === undefined ? {} : { displayName }), ...(instanceId === undefined ? {} : { instanceId }) },
    caps: setOf(caps),
    ...(admitted.deviceId === undefined ? {} : { deviceId: admitted.deviceId }),
    ...(admitted.peer.local ? {} : { remoteIp: admitted.peer.ip }),
    local: admitted.peer.local,
  };
}

/** One socket: challenged, then open, then closed. */
export interface Connection {
  readonly connId: string;
  readonly socket: Socket;
  readonly ws: WebSocket;
  opening: Opening | undefined;
  client: Client | undefined;
  /** A close frame was sent or the socket is gone: nothing more is read or written. */
  closed: boolean;
}

/** Every socket and every client, and the ways out: writing, closing, leaving. */
export interface Roster {
  readonly connections: Map<WebSocket, Connection>;
  readonly clients: Map<string, Client>;
  /** Sends the text of a frame; nothing after the close. A reader that is too slow is closed. */
  write(connection: Connection, text: string): void;
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
  };
}
