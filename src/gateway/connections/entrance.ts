import type { Socket } from "node:net";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log/logger.ts";
import type { ConnectParams, Validators } from "../../protocol/index.ts";
import type { Auth } from "../auth/index.ts";
import type { Fanout } from "../fanout.ts";
import { createClient } from "./client.ts";
import type { Client, Connection, Opening } from "./connection.ts";
import { readFirst, secondFrame, shakeHands, type FirstRequest, type HandshakeFailure, type HandshakeSuccess } from "./handshake.ts";
import { helloFor, type HelloFacts } from "./hello.ts";
import { responseText } from "./requests.ts";
import type { Roster } from "./roster.ts";

export interface EntranceDeps {
  readonly auth: Pick<Auth, "admit">;
  readonly fanout: Pick<Fanout, "add">;
  readonly clock: Pick<Clock, "monotonic">;
  readonly log: Logger;
  readonly hello: HelloFacts;
  /** The socket's owner is known. */
  readonly onAdmitted: (socket: Socket) => void;
  /** Before hello is sent: what is done here is in its snapshot. */
  readonly onOpening: (client: Client, params: ConnectParams) => void;
  readonly onOpen: (client: Client) => void;
}

/** Turns connections into clients, or sends them away. */
export interface Entrance {
  /** Takes a frame that came before hello; `text` is undefined for a binary one. */
  take(connection: Connection, opening: Opening, text: string | undefined): void;
}

export function createEntrance(deps: EntranceDeps, roster: Roster, validators: Validators, stopOpening: (connection: Connection) => void): Entrance {
  const { auth, clock, log } = deps;

  function fail(connection: Connection, { answer, closeCode, reason }: HandshakeFailure): void {
    log.debug("a connection was refused", { connId: connection.connId, reason: reason || "not JSON" });
    // The answer and the close leave in one write.
    connection.socket.cork();
    if (answer) roster.write(connection, responseText(answer.id, { ok: false, error: answer.error }));
    roster.end(connection, closeCode, reason);
    connection.socket.uncork();
  }

  function open(connection: Connection, { id, params, admitted }: HandshakeSuccess): void {
    const client = createClient(connection, params, admitted, clock, roster.end);
    connection.client = client;
    stopOpening(connection);
    roster.clients.set(client.connId, client);
    deps.onAdmitted(connection.socket);
    deps.onOpening(client, params);
    roster.write(connection, responseText(id, { ok: true, payload: helloFor(connection.connId, admitted, deps.hello) }));
    deps.fanout.add(client);
    deps.onOpen(client);
  }

  async function shake(connection: Connection, opening: Opening, first: FirstRequest): Promise<void> {
    try {
      await deps.hello.prepare();
      const result = await shakeHands(first, opening, auth);
      // From here to the registration nothing waits: a revocation in between would be missed.
      if (connection.closed) return;
      if (result.ok) open(connection, result);
      else fail(connection, result);
    } catch (error) {
      log.error("a handshake failed", { error, connId: connection.connId });
      roster.end(connection, 1011, "internal error; the log has the details");
    }
  }

  return {
    take(connection, opening, text) {
      if (opening.started) return fail(connection, secondFrame(text));
      opening.started = true;
      const first = readFirst(text, validators);
      if (!first.ok) return fail(connection, first);
      void shake(connection, opening, first.value);
    },
  };
}
