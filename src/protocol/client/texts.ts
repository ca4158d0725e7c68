import type { AgentDelta, AgentEvent } from "../events.ts";
import type { EventFrame } from "../frames.ts";

/** An answer that means "say nothing". */
const SILENCE = "NO_REPLY";
/** Texts that are held for runs whose end was never heard of. */
const MOST_TEXTS = 200;

/**
 * Puts texts of runs together. A gateway sends a client with the capability `text-deltas` new text alone; programs see the events as they are documented,
 * with the whole text in each, and the `chat` events of state `delta` that go with them.
 */
export interface Texts {
  /** The frames that programs are handed in place of this one. */
  take(frame: EventFrame): readonly EventFrame[];
  /** A new connection: every text comes from its beginning. */
  reset(): void;
}

type Payload = AgentEvent | AgentDelta;

function isDelta(payload: Payload): payload is AgentDelta {
  return (payload.stream === "assistant" || payload.stream === "thinking") && "at" in payload.data;
}

/** What chats show while it is written. Nothing while it may still mean silence. */
function chatDelta({ runId, sessionKey, seq, ts }: AgentDelta, text: string): EventFrame | undefined {
  if (sessionKey === undefined || (text.length <= SILENCE.length + 64 && SILENCE.startsWith(text.trim()))) return undefined;
  const message = { role: "assistant", content: [{ type: "text", text }], timestamp: ts };
  return { type: "event", event: "chat", payload: { runId, sessionKey, seq, state: "delta", message } };
}

export function createTexts(onMissing: (gap: { readonly expected: number; readonly received: number }) => void): Texts {
  const held = new Map<string, string>();

  function put(frame: EventFrame, payload: AgentDelta): readonly EventFrame[] {
    const { runId, stream } = payload;
    const { at, delta } = payload.data;
    const key = `${stream} ${runId}`;
    const before = at === 0 ? "" : (held.get(key) ?? "");
    if (before.length < at) {
      onMissing({ expected: before.length, received: at });
      return [];
    }
    const text = (before.length === at ? before : before.slice(0, at)) + delta;
    held.delete(key);
    held.set(key, text);
    const [oldest = key] = held.keys();
    if (held.size > MOST_TEXTS) held.delete(oldest);
    const whole = { ...frame, payload: { ...payload, data: { text, delta } } };
    const chat = stream === "assistant" ? chatDelta(payload, text) : undefined;
    return chat ? [whole, chat] : [whole];
  }

  function forget(runId: string): void {
    held.delete(`assistant ${runId}`);
    held.delete(`thinking ${runId}`);
  }

  return {
    take(frame) {
      const payload = frame.payload as Payload | undefined;
      if (payload === undefined || (frame.event !== "agent" && frame.event !== "chat")) return [frame];
      if (frame.event === "agent" && isDelta(payload)) return put(frame, payload);
      const state = "state" in payload ? payload.state : undefined;
      if (frame.event === "chat" && state !== "delta") forget(payload.runId);
      return [frame];
    },
    reset: () => held.clear(),
  };
}
