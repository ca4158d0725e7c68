import type { Socket } from "node:net";
import { isRecord } from "../base/records.ts";
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
import { textFrame } from "./connections/frames.ts";

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
  /** Only to connections that take texts like this. */
  readonly form?: TextForm;
  /** A later event replaces it: connections with a backlog are left out, without a gap in their numbers. */
  readonly replaceable?: boolean;
}

/** How much of a text that grows each connection was sent. */
export interface TextCursor {
  readonly form: TextForm;
  /** Characters that connections without a backlog have. */
  sent: number;
  /** Characters by connection. */
  readonly positions: Map<string, number>;
}

/** An `agent` event of a text, without the text. */
export type TextEvent = Omit<AgentDelta, "data">;

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

/** Sends events to connections. */
export interface Fanout {
  /** To everyone who may see it, with the next number of the sequence. */
  broadcast<E extends EventName>(event: E, payload: EventPayload<E>, options?: BroadcastOptions): void;
  /** To one connection, without a number. False when it is not there, may not see it, or is too slow. */
  send<E extends EventName>(connId: string, event: E, payload: EventPayload<E>): boolean;
  /**
   * Sends connections of the cursor's form what they lack of `text`, which is all of it so far. A connection with a backlog is left out and gets more the
   * next time: pieces never close a slow connection unless they are urgent.
   */
  piece(cursor: TextCursor, text: string, event: TextEvent, options?: PieceOptions): SentPiece;
  /** How a connection takes texts. */
  form(connId: string): TextForm;
  /** False while no one is connected. */
  hasListeners(): boolean;
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
  const key = isRecord(payload) ? payload["sessionKey"] : undefined;
  return event === "tick" || event === "health" || (typeof key === "string" && followed.has(key));
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
  /** Its socket is corked until the end of this turn of the event loop. */
  corked: boolean;
}

/** Events that come several at a time: pieces of an answer, and what they mean for the chat. */
const STREAMED: ReadonlySet<string> = new Set(["agent", "chat"]);

/** Events for one connection or one node are addressed by who sends them. */
function maySee(recipient: Recipient, event: EventName): boolean {
  const { audience } = EVENTS[event];
  return audience === "socket" || audience === "node" || isFor(audience, recipient);
}

/** The frame of one event with a number, or without one. */
type Frames = (seq: number | undefined) => Buffer;

/** Makes each frame once, and encodes the payload once for all of them. */
function createFrames(event: EventName, payload: unknown, stateVersion?: StateVersion): Frames {
  const head = `{"type":"event","event":${JSON.stringify(event)}${payload === undefined ? "" : `,"payload":${JSON.stringify(payload)}`}`;
  const tail = stateVersion ? `,"stateVersion":${JSON.stringify(stateVersion)}}` : "}";
  const made = new Map<number | undefined, Buffer>();
  return (seq) => {
    let frame = made.get(seq);
    if (!frame) made.set(seq, (frame = textFrame(`${head}${seq === undefined ? "" : `,"seq":${seq}`}${tail}`)));
    return frame;
  };
}

/** The connections, and what is written to each. */
interface Crowd {
  readonly listeners: Map<string, Listener>;
  /** Numbers of the last events. Each form has a sequence of its own, so that neither sees a gap for what only the other was sent. */
  readonly seq: Record<TextForm, number>;
  /**
   * False when it was not sent: a connection that is too slow misses the event if it is `droppable`, by default as documented for it, and is closed otherwise.
   */
  write(listener: Listener, frame: Buffer, event: EventName, payload: unknown, droppable?: boolean): boolean;
}

function createCrowd({ maxBufferedBytes = LIMITS.maxBufferedBytes, onSlow }: FanoutDeps): Crowd {
  const listeners = new Map<string, Listener>();
  let corked: Listener[] = [];

  function uncorkAll(): void {
    const all = corked;
    corked = [];
    for (const listener of all) {
      listener.corked = false;
      listener.socket.uncork();
    }
  }

  return {
    listeners,
    seq: { whole: 0, deltas: 0 },
    write(listener, frame, event, payload, droppable) {
      const { socket, recipient } = listener;
      if (socket.writableLength > maxBufferedBytes) {
        const isSkipped = droppable ?? isDroppable(EVENTS[event], payload);
        onSlow?.(recipient, event, isSkipped ? "skipped" : "closed");
        if (!isSkipped) {
          listeners.delete(recipient.connId);
          recipient.close(1008, "slow consumer");
        }
        return false;
      }
      // What is written in one turn of the event loop leaves in one write: each costs about 25 us.
      if (STREAMED.has(event) && !listener.corked) {
        listener.corked = true;
        socket.cork();
        if (corked.push(listener) === 1) setImmediate(uncorkAll);
      }
      socket.write(frame);
      return true;
    },
  };
}

/** `bit`: of those who may see `agent` events. */
function createPieceSender({ listeners, seq, write }: Crowd, bit: number): Fanout["piece"] {
  return (cursor, text, { runId, stream, sessionKey, seq: runSeq, ts }, { only, urgent = false, missed = false } = {}) => {
    const { form, sent, positions } = cursor;
    const numbered = only === undefined;
    if (numbered && !missed) seq[form] += 1;
    /** Frames by what a connection has already: most have the same. */
    const made = new Map<number, Frames>();
    const selected = only === undefined ? listeners.values() : [...only].flatMap((connId) => listeners.get(connId) ?? []);
    let bytes = 0;
    let behind = 0;
    for (const listener of selected) {
      const { recipient, socket } = listener;
      if (listener.form !== form || (listener.audiences & bit) === 0) continue;
      // A connection that begins to take deltas in the middle of a text has nothing of it; one that takes whole texts needs nothing.
      const from = positions.get(recipient.connId) ?? (form === "deltas" ? 0 : sent);
      const late = !urgent && socket.writableLength > BACKLOG_BYTES;
      if (late || from >= text.length) {
        if (late) positions.set(recipient.connId, from);
        if (late && from < text.length) behind += 1;
        if (numbered && !missed) listener.skipped += 1;
        continue;
      }
      if (numbered && missed) listener.skipped -= 1;
      let frames = made.get(from);
      if (!frames) {
        const delta = text.slice(from);
        const data = form === "whole" ? { text, delta } : { delta, at: from };
        made.set(from, (frames = createFrames("agent", { runId, stream, data, sessionKey, seq: runSeq, ts })));
      }
      const frame = frames(numbered ? seq[form] - listener.skipped : undefined);
      bytes = Math.max(bytes, frame.length);
      positions.set(recipient.connId, text.length);
      const isWritten = write(listener, frame, "agent", undefined, false);
      if (isWritten && numbered && listener.isNode && follows(recipient, "agent", { sessionKey })) socket.write(frames(undefined));
    }
    cursor.sent = text.length;
    return { bytes, behind };
  };
}

export function createFanout(deps: FanoutDeps = {}): Fanout {
  const crowd = createCrowd(deps);
  const { listeners, seq, write } = crowd;
  const audiences = audienceBits();
  const bits = new Map<string, number>(Object.entries(EVENTS).map(([event, { audience }]) => [event, audiences.get(audience) ?? 0]));

  function broadcast<E extends EventName>(event: E, payload: EventPayload<E>, { stateVersion, form, replaceable = false }: BroadcastOptions = {}): void {
    if (listeners.size === 0) return;
    for (const each of TEXT_FORMS) if (form === undefined || form === each) seq[each] += 1;
    let frames: Frames | undefined;
    const bit = bits.get(event) ?? 0;
    for (const listener of listeners.values()) {
      if ((listener.audiences & bit) === 0 || (form !== undefined && listener.form !== form)) continue;
      if (replaceable && listener.socket.writableLength > BACKLOG_BYTES) {
        listener.skipped += 1;
        continue;
      }
      frames ??= createFrames(event, payload, stateVersion);
      if (!write(listener, frames(seq[listener.form] - listener.skipped), event, payload)) continue;
      if (listener.isNode && follows(listener.recipient, event, payload)) listener.socket.write(frames(undefined));
    }
  }

  return {
    broadcast,
    piece: createPieceSender(crowd, bits.get("agent") ?? 0),
    send(connId, event, payload) {
      const listener = listeners.get(connId);
      if (!listener || !maySee(listener.recipient, event)) return false;
      return write(listener, createFrames(event, payload)(undefined), event, payload);
    },
    form: (connId) => listeners.get(connId)?.form ?? "whole",
    hasListeners: () => listeners.size > 0,
    audience(event) {
      const bit = bits.get(event) ?? 0;
      return [...listeners.values()].filter((listener) => (listener.audiences & bit) !== 0).length;
    },
    add(recipient) {
      const { connId, socket, role, caps } = recipient;
      const form = caps.has(CAPABILITIES.textDeltas) ? "deltas" : "whole";
      listeners.set(connId, { recipient, socket, audiences: bitsFor(recipient, audiences), isNode: role === "node", form, skipped: 0, corked: false });
    },
    remove(recipient) {
      if (listeners.get(recipient.connId)?.recipient === recipient) listeners.delete(recipient.connId);
    },
    get size() {
      return listeners.size;
    },
  };
}
