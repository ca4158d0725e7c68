import { hash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Clock } from "../../base/clock.ts";
import type { Ids } from "../../base/ids.ts";
import { LIMITS } from "../../protocol/index.ts";
import type { PeerRequest } from "../auth/index.ts";
import { closeFrame, readFirstChunk, textFrame } from "./frame.ts";
import type { HandshakeFailure } from "./handshake.ts";
import type { Openings } from "./openings.ts";
import { responseText } from "./requests.ts";

/** What was said to a newcomer, and when. */
export interface Challenge {
  readonly nonce: string;
  readonly request: PeerRequest;
  /** On the monotonic clock. */
  readonly since: number;
}

/**
 * Strangers from their upgrade to their first frame. Whoever sends something that no client would send is turned away here, for a fraction of what a
 * WebSocket costs; all others, also those whose first frame comes in pieces, get one.
 */
export interface WaitingRoom {
  /** Answers the upgrade and sends the challenge. False: the request is no ordinary one, and nothing was done. */
  enter(request: IncomingMessage, socket: Socket, head: Buffer): boolean;
  /** Sends everybody away. */
  close(code: number, reason: string): void;
  /** Cuts everybody off. */
  cut(): void;
  readonly size: number;
}

export interface WaitingRoomDeps {
  readonly clock: Pick<Clock, "now" | "monotonic">;
  readonly ids: Ids;
  readonly openings: Pick<Openings, "deadline" | "cutOff">;
  /** Why the first frame of a connection is refused, if it is. */
  readonly refusal: (text: string) => HandshakeFailure | undefined;
  /** Makes a WebSocket of the socket. `head` was read from it and not looked at. */
  readonly admit: (socket: Socket, head: Buffer, challenge: Challenge) => void;
  readonly onRefused: (reason: string) => void;
  /** One of them has left. */
  readonly onGone: () => void;
}

interface Stranger {
  readonly challenge: Challenge;
  /** To say something; after the close was sent, to end the socket. */
  deadline: Disposable;
  closing: boolean;
}

const ACCEPT_GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
const KEY = /^[+/0-9A-Za-z]{22}==$/;
const CLOSE_OPCODE = 0x8;
const BROKEN: HandshakeFailure = { ok: false, closeCode: 1002, reason: "" };

/** A request that `ws` would answer with no more than its four lines. */
function isOrdinary({ method, headers }: IncomingMessage): boolean {
  const version = headers["sec-websocket-version"];
  if (method !== "GET" || headers.upgrade?.toLowerCase() !== "websocket" || (version !== "13" && version !== "8")) return false;
  return headers["sec-websocket-protocol"] === undefined && KEY.test(headers["sec-websocket-key"] ?? "");
}

/** A new challenge for who sent the request. */
export function challengeFor({ headers }: IncomingMessage, { remoteAddress }: Socket, { ids, clock }: Pick<WaitingRoomDeps, "ids" | "clock">): Challenge {
  return { nonce: ids.uuid(), request: { headers, socket: { remoteAddress } }, since: clock.monotonic() };
}

/** The text of a challenge, as everybody gets it. */
export function challengeText({ nonce }: Challenge, ts: number): string {
  return JSON.stringify({ type: "event", event: "connect.challenge", payload: { nonce, ts } });
}

function welcome(key: string, challenge: string): Buffer {
  const accept = hash("sha1", key + ACCEPT_GUID, "base64");
  const answer = `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`;
  return Buffer.concat([Buffer.from(answer, "latin1"), textFrame(challenge)]);
}

export function createWaitingRoom({ clock, ids, openings, refusal, admit, onRefused, onGone }: WaitingRoomDeps): WaitingRoom {
  const strangers = new Map<Socket, Stranger>();

  function forget(socket: Socket, stranger: Stranger): void {
    strangers.delete(socket);
    stranger.deadline[Symbol.dispose]();
    socket.off("data", onData).off("end", onEnd).off("close", onClose);
  }

  function turnAway(socket: Socket, stranger: Stranger, { answer, closeCode, reason }: HandshakeFailure): void {
    if (stranger.closing) return;
    stranger.closing = true;
    stranger.deadline[Symbol.dispose]();
    const close = closeFrame(closeCode, reason);
    // The answer and the close leave in one write.
    socket.write(answer ? Buffer.concat([textFrame(responseText(answer.id, { ok: false, error: answer.error })), close]) : close);
    // Who does not speak the protocol will not answer the close either.
    if (closeCode === BROKEN.closeCode && !answer) socket.end();
    stranger.deadline = openings.cutOff(socket);
  }

  /** One function for all sockets, as the two below. */
  function onData(this: Socket, chunk: Buffer): void {
    const stranger = strangers.get(this);
    if (!stranger) return;
    if (stranger.closing) {
      // The answer to the close ends it; nothing else is of interest.
      if ((chunk[0]! & 0x0f) === CLOSE_OPCODE) this.end();
      return;
    }
    const first = readFirstChunk(chunk);
    const failure = first === "broken" ? BROKEN : first && refusal(first.text);
    if (failure) {
      onRefused(failure.reason);
      return turnAway(this, stranger, failure);
    }
    forget(this, stranger);
    this.pause();
    admit(this, chunk, stranger.challenge);
    this.resume();
  }

  function onEnd(this: Socket): void {
    this.end();
  }

  function onClose(this: Socket): void {
    const stranger = strangers.get(this);
    if (stranger) forget(this, stranger);
    onGone();
  }

  return {
    enter(request, socket, head) {
      if (!isOrdinary(request)) return false;
      // The other side has left already.
      if (!socket.readable || !socket.writable) {
        socket.destroy();
        return true;
      }
      const challenge = challengeFor(request, socket, { ids, clock });
      const stranger: Stranger = {
        challenge,
        closing: false,
        deadline: openings.deadline(LIMITS.handshakeMs, () => turnAway(socket, stranger, { ok: false, closeCode: 1000, reason: "" })),
      };
      strangers.set(socket, stranger);
      socket.write(welcome(request.headers["sec-websocket-key"]!, challengeText(challenge, clock.now())));
      if (head.length > 0) socket.unshift(head);
      socket.setTimeout(0).on("end", onEnd).on("close", onClose).on("data", onData);
      return true;
    },
    close(code, reason) {
      for (const [socket, stranger] of strangers) turnAway(socket, stranger, { ok: false, closeCode: code, reason });
    },
    cut() {
      for (const socket of strangers.keys()) socket.destroy();
    },
    get size() {
      return strangers.size;
    },
  };
}
