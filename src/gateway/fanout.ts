import type { Socket } from "node:net";
import { EVENTS, isDroppable, isFor, LIMITS, type Audience, type EventName, type EventPayload, type Role, type StateVersion } from "../protocol/index.ts";
import { textFrame } from "./connections/frame.ts";

/** A connection as fan-out sees it. */
export interface Recipient {
  readonly connId: string;
  readonly role: Role;
  readonly scopes: ReadonlySet<string>;
  readonly caps: ReadonlySet<string>;
  /** Whole frames are written to it. */
  readonly socket: Pick<Socket, "write" | "writableLength" | "cork" | "uncork">;
  /** Session keys a node follows; undefined for all who never asked. */
  readonly followed?: ReadonlySet<string> | undefined;
  /** Ends the connection; nothing is written to it afterwards. */
  close(code: number, reason: string): void;
}

export interface BroadcastOptions {
  readonly stateVersion?: StateVersion;
  /** Skipped for a connection that is too slow, instead of closing it. Default: what is documented for the event. */
  readonly droppable?: boolean;
}

/** Sends events to connections. */
export interface Fanout {
  /** To everyone who may see it, with the next number of the sequence. */
  broadcast<E extends EventName>(event: E, payload: EventPayload<E>, options?: BroadcastOptions): void;
  /** To one connection, without a number. False when it is not there, may not see it, or is too slow. */
  send<E extends EventName>(connId: string, event: E, payload: EventPayload<E>): boolean;
  /** How many connections an event would go to. */
  audience(event: EventName): number;
  add(recipient: Recipient): void;
  remove(recipient: Recipient): void;
  /** Number of the last broadcast. */
  readonly seq: number;
  readonly size: number;
}

export interface FanoutDeps {
  readonly maxBufferedBytes?: number;
  /** Told what could not be sent to whom. */
  readonly onSlow?: (recipient: Recipient, event: EventName, outcome: "skipped" | "closed") => void;
}

/** Events that a node which follows a session gets once more, without a number. */
const FOLLOWED: ReadonlySet<string> = new Set(["agent", "chat", "tick", "health"]);

function follows({ followed }: Recipient, event: EventName, payload: unknown): boolean {
  if (followed === undefined || followed.size === 0 || !FOLLOWED.has(event)) return false;
  const key = (payload as { readonly sessionKey?: string } | undefined)?.sessionKey;
  return event === "tick" || event === "health" || (key !== undefined && followed.has(key));
}

/** Each kind of audience as a bit: whether somebody belongs to it is asked when they come, not for each event. */
function audienceBits(): ReadonlyMap<Audience, number> {
  const kinds = new Set(Object.values(EVENTS).map(({ audience }) => audience));
  return new Map([...kinds].map((audience, at) => [audience, 1 << at]));
}

function bitsFor(recipient: Recipient, bits: ReadonlyMap<Audience, number>): number {
  let found = 0;
  for (const [audience, bit] of bits) if (isFor(audience, recipient)) found |= bit;
  return found;
}

/** A recipient with what every event asks of it. */
interface Listener {
  readonly recipient: Recipient;
  readonly socket: Recipient["socket"];
  readonly audiences: number;
  /** Only nodes follow sessions: of all others nothing but their socket is touched. */
  readonly isNode: boolean;
  /** Its socket collects what is written. */
  held: boolean;
}

/** Events that come several at a time: pieces of an answer, and what they mean for the chat. */
const STREAMED: ReadonlySet<string> = new Set(["agent", "chat"]);

/** Lets sockets collect what is written to them in one turn of the event loop, so that it goes out in one write: each costs about 25 us. */
function createHold(): (listener: Listener) => void {
  let held: Listener[] = [];
  const release = (): void => {
    const all = held;
    held = [];
    for (const listener of all) {
      listener.held = false;
      listener.socket.uncork();
    }
  };
  return (listener) => {
    if (listener.held) return;
    listener.held = true;
    listener.socket.cork();
    if (held.push(listener) === 1) setImmediate(release);
  };
}

/** Events for one connection or one node are addressed by who sends them. */
function maySee(recipient: Recipient, event: EventName): boolean {
  const { audience } = EVENTS[event];
  return audience === "socket" || audience === "node" || isFor(audience, recipient);
}

export function createFanout({ maxBufferedBytes = LIMITS.maxBufferedBytes, onSlow }: FanoutDeps = {}): Fanout {
  const listeners = new Map<string, Listener>();
  const bits = audienceBits();
  const hold = createHold();
  let seq = 0;

  /** False when it did not go out. A recipient that is too slow never holds up the others: nothing here waits. */
  function write(listener: Listener, frame: Buffer, event: EventName, droppable: boolean): boolean {
    const { socket } = listener;
    if (socket.writableLength > maxBufferedBytes) {
      const { recipient } = listener;
      onSlow?.(recipient, event, droppable ? "skipped" : "closed");
      if (!droppable) {
        listeners.delete(recipient.connId);
        recipient.close(1008, "slow consumer");
      }
      return false;
    }
    if (STREAMED.has(event)) hold(listener);
    socket.write(frame);
    return true;
  }

  function unnumbered(event: EventName, payload: unknown): Buffer {
    return textFrame(JSON.stringify({ type: "event", event, payload }));
  }

  return {
    broadcast(event, payload, { stateVersion, droppable = isDroppable(EVENTS[event], payload) } = {}) {
      if (listeners.size === 0) return;
      seq += 1;
      let frame: Buffer | undefined;
      let again: Buffer | undefined;
      const bit = bits.get(EVENTS[event].audience)!;
      for (const listener of listeners.values()) {
        if ((listener.audiences & bit) === 0) continue;
        frame ??= textFrame(JSON.stringify({ type: "event", event, payload, seq, ...(stateVersion ? { stateVersion } : {}) }));
        if (!write(listener, frame, event, droppable) || !listener.isNode || !follows(listener.recipient, event, payload)) continue;
        again ??= unnumbered(event, payload);
        listener.socket.write(again);
      }
    },
    send(connId, event, payload) {
      const listener = listeners.get(connId);
      if (!listener || !maySee(listener.recipient, event)) return false;
      return write(listener, unnumbered(event, payload), event, isDroppable(EVENTS[event], payload));
    },
    audience(event) {
      const bit = bits.get(EVENTS[event].audience)!;
      return [...listeners.values()].filter(({ audiences }) => (audiences & bit) !== 0).length;
    },
    add(recipient) {
      const { connId, socket, role } = recipient;
      listeners.set(connId, { recipient, socket, audiences: bitsFor(recipient, bits), isNode: role === "node", held: false });
    },
    remove(recipient) {
      if (listeners.get(recipient.connId)?.recipient === recipient) listeners.delete(recipient.connId);
    },
    get seq() {
      return seq;
    },
    get size() {
      return listeners.size;
    },
  };
}
