import type { Socket } from "node:net";
import type { WebSocket } from "ws";
import type { RequestFrame } from "../../protocol/index.ts";
import type { AuthMethod, PeerRequest } from "../auth/index.ts";
import type { Recipient } from "../fanout.ts";
import type { Caller } from "../methods/index.ts";

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

/** Requests of a client that has too many open: they wait for a place, and nothing more is read meanwhile. */
export interface Held {
  readonly frames: RequestFrame[];
  timer: Disposable;
  /** One of them found a place since the timer was set. */
  moved: boolean;
}

/** A client after hello. One object without closures or timers of its own: there can be thousands. */
export interface Client extends Recipient {
  readonly caller: Caller;
  readonly method: AuthMethod;
  followed: Set<string> | undefined;
  /** Key of its presence entry, when it has one. */
  presenceKey: string | undefined;
  /** Requests without a final answer. */
  inFlight: number;
  held: Held | undefined;
  /** Requests it may send now; refilled with time. */
  credit: number;
  creditAt: number;
  /** Made with the first request; aborted when the connection ends. */
  gone: AbortController | undefined;
  /** Stops reading what it sends, except for what one read already brought. */
  pause(): void;
  resume(): void;
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
