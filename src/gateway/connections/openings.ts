import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Clock } from "../../base/clock.ts";
import { createDeadlines } from "../../base/deadlines.ts";
import type { Ids } from "../../base/ids.ts";
import type { Logger } from "../../base/log/logger.ts";
import { LIMITS } from "../../protocol/index.ts";
import type { PeerRequest } from "../auth/index.ts";
import type { Connection } from "./connection.ts";

/** What a new connection is asked to sign, and since when. */
export interface Challenge {
  readonly nonce: string;
  readonly request: PeerRequest;
  /** On the monotonic clock. */
  readonly since: number;
}

export function challengeFor(
  { headers }: IncomingMessage,
  { remoteAddress }: Socket,
  { ids, clock }: { readonly ids: Ids; readonly clock: Pick<Clock, "monotonic"> },
): Challenge {
  return { nonce: ids.uuid(), request: { headers, socket: { remoteAddress } }, since: clock.monotonic() };
}

/** The event that carries a challenge. */
export function challengeText({ nonce }: Challenge, ts: number): string {
  return JSON.stringify({ type: "event", event: "connect.challenge", payload: { nonce, ts } });
}

/** Bounds of a connection before hello: ten seconds and 64 KiB. */
export interface Openings extends Disposable {
  /** Starts the count. The clock runs since the challenge. */
  begin(connection: Connection, challenge: Challenge): void;
  /** The bounds no longer apply. Harmless when they did not. */
  stop(connection: Connection): void;
  /** Cuts a stranger's socket off in two seconds, if it does not answer the close by then. */
  cutOff(socket: Pick<Socket, "destroy">): Disposable;
}

export interface OpeningsDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly end: (connection: Connection, code: number, reason: string) => void;
}

const OPENING_BYTES = 65_536;
const CUT_OFF_MS = 2000;
/** Those who came together are cut off together: a wide bucket of them would hold up everybody else. */
const DEADLINE_TICK_MS = 20;

export function createOpenings({ clock, log, end }: OpeningsDeps): Openings {
  const opening = new Map<Socket, Connection>();
  const deadlines = createDeadlines({ clock, tickMs: DEADLINE_TICK_MS, onError: (error) => log.error("a deadline failed", { error }) });

  /** One function for all sockets. */
  function onData(this: Socket, chunk: Buffer): void {
    const connection = opening.get(this);
    if (!connection?.opening) return;
    connection.opening.bytes += chunk.length;
    if (connection.opening.bytes <= OPENING_BYTES) return;
    end(connection, 1009, `more than ${OPENING_BYTES} bytes before hello`);
    this.destroySoon();
  }

  return {
    begin(connection, { nonce, request, since }) {
      const { socket } = connection;
      const left = Math.max(0, since + LIMITS.handshakeMs - clock.monotonic());
      const deadline = deadlines.after(left, () => end(connection, 1000, ""));
      connection.opening = { nonce, request, deadline, bytes: 0, started: false };
      opening.set(socket, connection);
      // Counted before it is read: what goes over the bound is not looked at.
      socket.prependListener("data", onData);
    },
    stop(connection) {
      connection.opening?.deadline[Symbol.dispose]();
      connection.opening = undefined;
      if (opening.delete(connection.socket)) connection.socket.off("data", onData);
    },
    cutOff: (socket) => deadlines.after(CUT_OFF_MS, () => void socket.destroy()),
    [Symbol.dispose]: () => deadlines[Symbol.dispose](),
  };
}
