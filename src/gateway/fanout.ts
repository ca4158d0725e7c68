import type { Socket } from "node:net";
import { EVENTS, isDroppable, isFor, LIMITS, type EventName, type EventPayload, type Role, type StateVersion } from "../protocol/index.ts";
import { textFrame } from "./connections/frame.ts";

/** A connection as fan-out sees it. */
export interface Recipient {
  readonly connId: string;
  readonly role: Role;
  readonly scopes: ReadonlySet<string>;
  readonly caps: ReadonlySet<string>;
  /** Whole frames are written to it. */
  readonly socket: Pick<Socket, "write" | "writableLength">;
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

/** Events for one connection or one node are addressed by who sends them. */
function maySee(recipient: Recipient, event: EventName): boolean {
  const { audience } = EVENTS[event];
  return audience === "socket" || audience === "node" || isFor(audience, recipient);
}

export function createFanout({ maxBufferedBytes = LIMITS.maxBufferedBytes, onSlow }: FanoutDeps = {}): Fanout {
  const recipients = new Map<string, Recipient>();
  let seq = 0;

  /** False when it did not go out. A recipient that is too slow never holds up the others: nothing here waits. */
  function write(recipient: Recipient, frame: Buffer, event: EventName, droppable: boolean): boolean {
    if (recipient.socket.writableLength > maxBufferedBytes) {
      onSlow?.(recipient, event, droppable ? "skipped" : "closed");
      if (!droppable) {
        recipients.delete(recipient.connId);
        recipient.close(1008, "slow consumer");
      }
      return false;
    }
    recipient.socket.write(frame);
    return true;
  }

  function unnumbered(event: EventName, payload: unknown): Buffer {
    return textFrame(JSON.stringify({ type: "event", event, payload }));
  }

  return {
    broadcast(event, payload, { stateVersion, droppable = isDroppable(EVENTS[event], payload) } = {}) {
      if (recipients.size === 0) return;
      seq += 1;
      let frame: Buffer | undefined;
      let again: Buffer | undefined;
      for (const recipient of recipients.values()) {
        if (!isFor(EVENTS[event].audience, recipient)) continue;
        frame ??= textFrame(JSON.stringify({ type: "event", event, payload, seq, ...(stateVersion ? { stateVersion } : {}) }));
        if (!write(recipient, frame, event, droppable) || !follows(recipient, event, payload)) continue;
        again ??= unnumbered(event, payload);
        recipient.socket.write(again);
      }
    },
    send(connId, event, payload) {
      const recipient = recipients.get(connId);
      if (!recipient || !maySee(recipient, event)) return false;
      return write(recipient, unnumbered(event, payload), event, isDroppable(EVENTS[event], payload));
    },
    add: (recipient) => void recipients.set(recipient.connId, recipient),
    remove(recipient) {
      if (recipients.get(recipient.connId) === recipient) recipients.delete(recipient.connId);
    },
    get seq() {
      return seq;
    },
    get size() {
      return recipients.size;
    },
  };
}
