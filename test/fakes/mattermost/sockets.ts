/** The server's event sockets: authentication, numbering, and the queue that a lost connection is resumed from. */
import type { Asked, FakeSocket } from "../../../src/plugin-testing/index.ts";
import { newId } from "./objects.ts";

/** Events that a connection can be resumed from. */
const QUEUE = 128;

interface Frame {
  readonly event: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly broadcast: { readonly omit_users: null; readonly user_id: string; readonly channel_id: string; readonly team_id: string };
  readonly seq: number;
}

interface Connection {
  readonly id: string;
  readonly userId: string;
  next: number;
  queue: Frame[];
  socket: FakeSocket | undefined;
}

export interface Sockets {
  open(socket: FakeSocket, asked: Asked): void;
  send(userId: string, event: string, data: Readonly<Record<string, unknown>>, broadcast: { readonly channelId?: string; readonly userId?: string }): void;
  /** What is sent by it goes out at its end, the last first. */
  lastFirst(act: () => void): void;
  /** Sockets that are open and signed in. */
  count(userId: string): number;
  /** How often a second one was opened beside another. */
  readonly conflicts: number;
  /** How often a connection was resumed, and begun. */
  readonly resumed: number;
  readonly begun: number;
  /** Nobody can resume any more, as after a restart of the server. */
  forget(): void;
  /** From now on only the challenge signs in, as behind a proxy that drops headers. */
  ignoreHeaders(): void;
}

export function createSockets(userOf: (token: string) => string | undefined): Sockets {
  let connections: Connection[] = [];
  let [conflicts, resumed, begun] = [0, 0, 0];
  let readsHeaders = true;
  let held: (() => void)[] | undefined;
  const isOpen = ({ socket }: Connection): boolean => socket?.isOpen === true;
  const count = (userId: string): number => connections.filter((one) => one.userId === userId && isOpen(one)).length;

  function push(connection: Connection, event: string, data: Frame["data"], to: { readonly channelId?: string; readonly userId?: string } = {}): void {
    const broadcast = { omit_users: null, user_id: to.userId ?? "", channel_id: to.channelId ?? "", team_id: "" };
    const frame: Frame = { event, data, broadcast, seq: connection.next };
    connection.next += 1;
    connection.queue = [...connection.queue, frame].slice(-QUEUE);
    if (isOpen(connection)) connection.socket?.send(frame);
  }

  /** The connection to go on with. Undefined: it is unknown, or too much was missed. */
  function resume(userId: string, query: URLSearchParams, socket: FakeSocket): Connection | undefined {
    const known = connections.find((one) => one.userId === userId && one.id === query.get("connection_id"));
    const from = Number(query.get("sequence_number"));
    const missed = known?.queue.filter(({ seq }) => seq >= from) ?? [];
    if (!known || from > known.next || missed.length !== known.next - from) return undefined;
    known.socket?.reset();
    known.socket = socket;
    resumed += 1;
    for (const frame of missed) socket.send(frame);
    return known;
  }

  function begin(userId: string, socket: FakeSocket): Connection {
    const connection: Connection = { id: newId(), userId, next: 0, queue: [], socket };
    connections.push(connection);
    begun += 1;
    push(connection, "hello", { connection_id: connection.id, server_version: "11.2.0.fake.true", server_hostname: "fake" }, { userId });
    return connection;
  }

  return {
    count,
    get conflicts() {
      return conflicts;
    },
    get resumed() {
      return resumed;
    },
    get begun() {
      return begun;
    },
    ignoreHeaders() {
      readsHeaders = false;
    },
    forget() {
      connections = [];
    },
    send(userId, event, data, broadcast) {
      const go = (): void => {
        for (const connection of connections.filter((one) => one.userId === userId)) push(connection, event, data, broadcast);
      };
      if (held) held.push(go);
      else go();
    },
    lastFirst(act) {
      const events: (() => void)[] = (held = []);
      act();
      held = undefined;
      for (const send of events.toReversed()) send();
    },
    open(socket, { headers, query }) {
      const [, bearer = ""] = /^bearer (.+)$/i.exec(headers.authorization ?? "") ?? [];
      let userId = readsHeaders ? userOf(bearer) : undefined;
      const enter = (id: string, mayResume: boolean): void => {
        if (count(id) > 0 && connections.some((one) => one.userId === id && isOpen(one) && one.id !== query.get("connection_id"))) conflicts += 1;
        // Only a socket that is signed in from its first request is resumed.
        if (!(mayResume && query.has("connection_id") && resume(id, query, socket))) begin(id, socket);
      };
      if (userId !== undefined) enter(userId, true);
      socket.onMessage((message) => {
        const { action, seq, data } = message as { readonly action?: string; readonly seq?: number; readonly data?: { readonly token?: string } };
        if (action === "authentication_challenge") {
          if (userId !== undefined) return;
          userId = userOf(data?.token ?? "");
          if (userId === undefined) return socket.close(1000);
          enter(userId, false);
          return socket.send({ status: "OK", seq_reply: seq });
        }
        if (userId === undefined)
          return socket.send({ status: "FAIL", seq_reply: seq, error: { id: "api.web_socket_router.not_authenticated.app_error", status_code: 401 } });
        if (action === "ping") return socket.send({ status: "OK", data: { text: "pong", version: "11.2.0" }, seq_reply: seq });
        socket.send({ status: "FAIL", seq_reply: seq, error: { id: "api.web_socket_router.bad_action.app_error", status_code: 500 } });
      });
    },
  };
}
