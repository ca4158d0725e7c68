import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { RawData, ServerOptions, WebSocket, WebSocketServer } from "ws";
import type { Clock } from "../../base/clock.ts";
import type { Ids } from "../../base/ids.ts";
import { lazy } from "../../base/lazy.ts";
import { LIMITS, type Validators } from "../../protocol/index.ts";
import type { Auth, Revocation } from "../auth/index.ts";
import { isRevoked } from "../auth/revocation.ts";
import type { Fanout } from "../fanout.ts";
import type { Dispatcher } from "../methods/index.ts";
import { createLiveness } from "./liveness.ts";
import { createRoster, type Client, type Connection, type Roster } from "./connection.ts";
import { createHandshakes, type Handshakes, type HandshakesDeps } from "./handshake.ts";
import { challengeFor, challengeText, createOpenings, type Challenge, type Openings } from "./openings.ts";
import { createRequests, type Requests } from "./requests.ts";
import { createUpgrades, type TakeUpgrade } from "./upgrades.ts";

export interface ConnectionsDeps extends HandshakesDeps {
  readonly auth: Pick<Auth, "admit" | "onRevoked">;
  readonly dispatcher: Pick<Dispatcher, "call">;
  readonly fanout: Fanout;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly loadValidators: () => Promise<Validators>;
  readonly onLeave: (client: Client) => void;
}

/** All WebSocket connections of a gateway. */
export interface Connections {
  /** Takes over the socket of an upgrade request. */
  readonly upgrade: TakeUpgrade;
  /** Loads what the first connection needs. */
  warm(): Promise<void>;
  readonly clients: ReadonlyMap<string, Client>;
  /** Closes all with this code and resolves when they are gone; the last ones are cut off after two seconds. */
  close(code: number, reason: string): Promise<void>;
}

/** What the first connection loads. */
interface Loaded {
  readonly server: WebSocketServer;
  readonly requests: Requests;
  readonly handshakes: Handshakes;
}

/** Pings are answered while no more than this waits to be read. */
const PONG_BACKLOG = 65_536;

/** `closeTimeout` is newer than the published types: the time in ms for the other side to answer a close frame. */
const SOCKET_OPTIONS: ServerOptions & { readonly closeTimeout: number } = {
  noServer: true,
  clientTracking: false,
  perMessageDeflate: false,
  autoPong: false,
  maxPayload: LIMITS.maxPayload,
  closeTimeout: 10_000,
};

/** Time for clients to answer the close when the gateway stops. */
const STOP_MS = 2000;

/** What `ws` calls. The functions are shared by all sockets: closures of their own would stay as long as the connection. */
function createListeners(
  { connections, leave }: Roster,
  { log }: ConnectionsDeps,
  state: { readonly loaded: Loaded | undefined },
  { onGone, heard }: { readonly onGone: () => void; readonly heard: (client: Client) => void },
) {
  return {
    message(this: WebSocket, data: RawData, isBinary: boolean): void {
      const connection = connections.get(this);
      const { loaded } = state;
      if (!connection || connection.closed || !loaded) return;
      // One buffer unless `binaryType` is changed.
      const text = isBinary || !Buffer.isBuffer(data) ? undefined : data.toString("utf8");
      if (connection.client?.role === "node") heard(connection.client);
      if (connection.client) loaded.requests.take(connection.client, text);
      else if (connection.opening) loaded.handshakes.take(connection, connection.opening, text);
    },
    ping(this: WebSocket, data: Buffer): void {
      const connection = connections.get(this);
      if (connection && !connection.closed && connection.socket.writableLength < PONG_BACKLOG) this.pong(data);
    },
    pong(this: WebSocket): void {
      const client = connections.get(this)?.client;
      if (client) heard(client);
    },
    close(this: WebSocket): void {
      const connection = connections.get(this);
      if (!connection) return;
      connections.delete(this);
      leave(connection);
      onGone();
    },
    /** `ws` closes the connection itself: 1009 for a frame that is too long, 1007 for bad UTF-8, 1002 for a broken frame. */
    error(this: WebSocket, error: Error): void {
      const connection = connections.get(this);
      log.debug("a connection failed", { error: error.message, connId: connection?.connId });
      if (connection) leave(connection);
    },
  };
}

/** Clients forget a device token when they read of a mismatch. */
function revocationReason(revocation: Revocation): string {
  return "deviceId" in revocation ? "unauthorized: device token mismatch (it was revoked or replaced)" : "unauthorized: the gateway's secret was changed";
}

function closeRevoked(auth: Pick<Auth, "onRevoked">, clients: ReadonlyMap<string, Client>): Disposable {
  return auth.onRevoked((revocation) => {
    for (const client of clients.values()) {
      const { connId, deviceId, role } = client.caller;
      if (isRevoked(revocation, { connId, method: client.method, deviceId, role })) client.close(1008, revocationReason(revocation));
    }
  });
}

/** Makes connections of WebSockets that were challenged. */
function createOpener({ connections }: Roster, openings: Openings, ids: Ids, on: ReturnType<typeof createListeners>) {
  return (ws: WebSocket, socket: Socket, challenge: Challenge): Connection => {
    const connection: Connection = { connId: ids.uuid(), socket, ws, opening: undefined, client: undefined, closed: false };
    connections.set(ws, connection);
    openings.begin(connection, challenge);
    ws.on("message", on.message).on("ping", on.ping).on("pong", on.pong).on("close", on.close).on("error", on.error);
    return connection;
  };
}

export function createConnections(deps: ConnectionsDeps): Connections {
  const { auth, clock, fanout, ids, log } = deps;
  const state: { loaded: Loaded | undefined } = { loaded: undefined };
  let emptied: (() => void) | undefined;

  const roster = createRoster({
    onLeave(connection) {
      openings.stop(connection);
      if (!connection.client) openings.cutOff(connection.socket);
    },
    onClientLeave(client) {
      fanout.remove(client);
      state.loaded?.requests.forget(client);
      if (client.role === "node") liveness.forget(client);
      deps.onLeave(client);
    },
  });
  const { clients, connections } = roster;
  const openings = createOpenings({ clock, log, end: roster.end });
  const settle = (): void => {
    if (connections.size === 0) emptied?.();
  };
  const liveness = createLiveness({ clock });
  const listeners = createListeners(roster, deps, state, { onGone: settle, heard: liveness.heard });
  const open = createOpener(roster, openings, ids, listeners);

  const ready = lazy(async (): Promise<Loaded> => {
    const [ws, validators] = await Promise.all([import("ws"), deps.loadValidators()]);
    const requests = createRequests({ ...deps, validators, clients });
    const onOpen = (client: Client): void => {
      if (client.role === "node") liveness.watch(client);
      deps.onOpen(client);
    };
    const handshakes = createHandshakes({ ...deps, onOpen }, roster, validators, openings.stop);
    return (state.loaded = { server: new ws.WebSocketServer(SOCKET_OPTIONS), requests, handshakes });
  });

  function accept(ws: WebSocket, request: IncomingMessage, socket: Socket): void {
    const challenge = challengeFor(request, socket, deps);
    roster.write(open(ws, socket, challenge), challengeText(challenge, clock.now()));
  }

  const revoked = closeRevoked(auth, clients);

  return {
    upgrade: createUpgrades({
      server: () => state.loaded?.server,
      loadServer: async () => (await ready()).server,
      isClosed: () => emptied !== undefined,
      accept,
      log,
    }),
    warm: async () => void (await ready()),
    clients,
    async close(code, reason) {
      revoked[Symbol.dispose]();
      const gone = Promise.withResolvers<void>();
      emptied = gone.resolve;
      for (const connection of connections.values()) roster.end(connection, code, reason);
      settle();
      using _ = clock.after(STOP_MS, () => {
        for (const { ws } of connections.values()) ws.terminate();
      });
      await gone.promise;
      openings[Symbol.dispose]();
      liveness[Symbol.dispose]();
    },
  };
}
