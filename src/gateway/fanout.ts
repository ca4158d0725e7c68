import type { Socket } from "node:net";
import {
  CAPABILITIES,
  EVENTS,
  isDroppable,
  isFor,
  LIMITS,
  type AgentDelta,
  type Audience,
  type EventName,
  type EventPayload,
  type Role,
  type StateVersion,
} from "../protocol/index.ts";
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

/** How a connection takes texts that grow: all of the text each time, or new text alone. */
export type TextForm = "whole" | "deltas";
export const TEXT_FORMS: readonly TextForm[] = ["whole", "deltas"];

export interface BroadcastOptions {
  readonly stateVersion?: StateVersion;
  /** Skipped for a connection that is too slow, instead of closing it. Default: what is documented for the event. */
  readonly droppable?: boolean;
  /** Only to connections that take texts like this. */
  readonly form?: TextForm;
  /** A later event replaces it: connections with a backlog are left out, without a gap in their numbers. */
  readonly replaceable?: boolean;
}

/** A text that grows, and how much of it each connection was sent. */
export interface TextCursor {
  readonly form: TextForm;
  /** Characters so far. */
  length: number;
  /** What connections that are up to date have. */
  sent: number;
  /** By connection. */
  readonly positions: Map<string, number>;
}

export const newCursor = (form: TextForm): TextCursor => ({ form, length: 0, sent: 0, positions: new Map() });

export interface PieceOptions {
  /** To these connections, without a number. Default: everyone who may see `agent` events, with one. */
  readonly only?: ReadonlySet<string> | undefined;
  /** Something else follows: connections with a backlog get it, too. */
  readonly urgent?: boolean;
  /** Only to connections that missed some of what the others have. */
  readonly missed?: boolean;
}

export interface SentPiece {
  /** Bytes of the largest frame. */
  readonly bytes: number;
  /** Connections that were left out because of their backlog. */
  readonly behind: number;
}

type AgentPayload = EventPayload<"agent"> | AgentDelta;

/** Sends events to connections. */
export interface Fanout {
  /** To everyone who may see it, with the next number of the sequence. */
  broadcast<E extends EventName>(event: E, payload: EventPayload<E>, options?: BroadcastOptions): void;
  /** To one connection, without a number. False when it is not there, may not see it, or is too slow. */
  send<E extends EventName>(connId: string, event: E, payload: EventPayload<E>): boolean;
  /**
   * Sends the next piece of a text to every connection of the cursor's form. `payload` makes it for a connection that has the first `from` characters. A
   * connection with a backlog is left out and gets more the next time: pieces never close a slow connection unless they are urgent.
   */
  piece(cursor: TextCursor, payload: (from: number) => AgentPayload, options?: PieceOptions): SentPiece;
  /** How a connection takes texts. */
  form(connId: string): TextForm;
  /** How many connections an event would go to. */
  audience(event: EventName): number;
  add(recipient: Recipient): void;
  remove(recipient: Recipient): void;
  readonly size: number;
}

export interface FanoutDeps {
  readonly maxBufferedBytes?: number;
  /** Called with what could not be sent, and to whom. */
  readonly onSlow?: (recipient: Recipient, event: EventName, outcome: "skipped" | "closed") => void;
}

/** Unsent bytes from which on a connection is not sent what a later event replaces. */
const BACKLOG_BYTES = 262_144;

/** Events that a node which follows a session gets once more, without a number. */
const FOLLOWED: ReadonlySet<string> = new Set(["agent", "chat", "tick", "health"]);

function follows({ followed }: Recipient, event: EventName, payload: unknown): boolean {
  if (followed === undefined || followed.size === 0 || !FOLLOWED.has(event)) return false;
  const key = (payload as { readonly sessionKey?: string } | undefined)?.sessionKey;
  return event === "tick" || event === "health" || (key !== undefined && followed.has(key));
}

/** Each kind of audience as a bit: membership is computed on connect, not for each event. */
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
  readonly form: TextForm;
  /** Numbers of its form's sequence that were spent on events it was left out of. */
  skipped: number;
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

/** Frames of one event by their number, each made once. The payload is encoded once for all of them. */
function createFrames(event: EventName, payload: unknown, stateVersion?: StateVersion): (seq: number | undefined) => Buffer {
  const head = `{"type":"event","event":${JSON.stringify(event)}${payload === undefined ? "" : `,"payload":${JSON.stringify(payload)}`}`;
  const tail = stateVersion ? `,"stateVersion":${JSON.stringify(stateVersion)}}` : "}";
  const made = new Map<number | undefined, Buffer>();
  return (seq) => {
    let frame = made.get(seq);
    if (!frame) made.set(seq, (frame = textFrame(`${head}${seq === undefined ? "" : `,"seq":${seq}`}${tail}`)));
    return frame;
  };
}

/** A connection that begins to take deltas in the middle of a text has nothing of it; one that takes whole texts needs nothing. */
function positionOf({ form, sent, positions }: TextCursor, connId: string): number {
  return positions.get(connId) ?? (form === "deltas" ? 0 : sent);
}

/** The connections, and what is written to each. */
interface Crowd {
  readonly listeners: Map<string, Listener>;
  /** Both forms count for themselves, so that neither sees a gap for what only the other was sent. */
  readonly seq: Record<TextForm, number>;
  /** False when it did not go out. A recipient that is too slow never holds up the others: nothing here waits. */
  write(listener: Listener, frame: Buffer, event: EventName, droppable: boolean): boolean;
}

function createCrowd({ maxBufferedBytes = LIMITS.maxBufferedBytes, onSlow }: FanoutDeps): Crowd {
  const listeners = new Map<string, Listener>();
  const hold = createHold();
  return {
    listeners,
    seq: { whole: 0, deltas: 0 },
    write(listener, frame, event, droppable) {
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
    },
  };
}

const numberFor = ({ seq }: Crowd, { form, skipped }: Listener): number => seq[form] - skipped;

function pick({ listeners }: Crowd, only: ReadonlySet<string> | undefined): Iterable<Listener> {
  return only === undefined ? listeners.values() : [...only].flatMap((connId) => listeners.get(connId) ?? []);
}

/** `bit`: of those who may see `agent` events. */
function sendPiece(crowd: Crowd, bit: number, cursor: TextCursor, payload: (from: number) => AgentPayload, options: PieceOptions): SentPiece {
  const { only, urgent = false, missed = false } = options;
  const { form, length, positions } = cursor;
  const numbered = only === undefined;
  if (numbered && !missed) crowd.seq[form] += 1;
  const made = new Map<number, { readonly payload: AgentPayload; readonly frames: ReturnType<typeof createFrames> }>();
  function madeFor(from: number) {
    let one = made.get(from);
    if (!one) {
      const value = payload(from);
      made.set(from, (one = { payload: value, frames: createFrames("agent", value) }));
    }
    return one;
  }
  let bytes = 0;
  let behind = 0;
  for (const listener of pick(crowd, only)) {
    const { recipient, socket } = listener;
    if (listener.form !== form || (listener.audiences & bit) === 0) continue;
    const from = positionOf(cursor, recipient.connId);
    const late = !urgent && socket.writableLength > BACKLOG_BYTES;
    if (late || from >= length) {
      if (late) positions.set(recipient.connId, from);
      if (late && from < length) behind += 1;
      if (numbered && !missed) listener.skipped += 1;
      continue;
    }
    if (numbered && missed) listener.skipped -= 1;
    const { payload: value, frames } = madeFor(from);
    const frame = frames(numbered ? numberFor(crowd, listener) : undefined);
    bytes = Math.max(bytes, frame.length);
    positions.set(recipient.connId, length);
    if (crowd.write(listener, frame, "agent", false) && numbered && listener.isNode && follows(recipient, "agent", value)) socket.write(frames(undefined));
  }
  cursor.sent = length;
  return { bytes, behind };
}

export function createFanout(deps: FanoutDeps = {}): Fanout {
  const crowd = createCrowd(deps);
  const { listeners, seq, write } = crowd;
  const bits = audienceBits();

  function broadcast<E extends EventName>(event: E, payload: EventPayload<E>, options: BroadcastOptions = {}): void {
    const { stateVersion, droppable = isDroppable(EVENTS[event], payload), form, replaceable = false } = options;
    if (listeners.size === 0) return;
    for (const each of TEXT_FORMS) if (form === undefined || form === each) seq[each] += 1;
    let frames: ReturnType<typeof createFrames> | undefined;
    const bit = bits.get(EVENTS[event].audience)!;
    for (const listener of listeners.values()) {
      if ((listener.audiences & bit) === 0 || (form !== undefined && listener.form !== form)) continue;
      if (replaceable && listener.socket.writableLength > BACKLOG_BYTES) {
        listener.skipped += 1;
        continue;
      }
      frames ??= createFrames(event, payload, stateVersion);
      if (!write(listener, frames(numberFor(crowd, listener)), event, droppable) || !listener.isNode || !follows(listener.recipient, event, payload)) continue;
      listener.socket.write(frames(undefined));
    }
  }

  return {
    broadcast,
    piece: (cursor, payload, options = {}) => sendPiece(crowd, bits.get(EVENTS.agent.audience)!, cursor, payload, options),
    send(connId, event, payload) {
      const listener = listeners.get(connId);
      if (!listener || !maySee(listener.recipient, event)) return false;
      return write(listener, createFrames(event, payload)(undefined), event, isDroppable(EVENTS[event], payload));
    },
    form: (connId) => listeners.get(connId)?.form ?? "whole",
    audience(event) {
      const bit = bits.get(EVENTS[event].audience)!;
      return [...listeners.values()].filter(({ audiences }) => (audiences & bit) !== 0).length;
    },
    add(recipient) {
      const { connId, socket, role, caps } = recipient;
      const form = caps.has(CAPABILITIES.textDeltas) ? "deltas" : "whole";
      listeners.set(connId, { recipient, socket, audiences: bitsFor(recipient, bits), isNode: role === "node", form, skipped: 0, held: false });
    },
    remove(recipient) {
      if (listeners.get(recipient.connId)?.recipient === recipient) listeners.delete(recipient.connId);
    },
    get size() {
      return listeners.size;
    },
  };
}
