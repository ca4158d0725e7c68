import type { EventFrame, ResponseFrame } from "../frames.ts";

const RESPONSE_KEYS: ReadonlySet<string> = new Set(["type", "id", "ok", "payload", "error"]);
const EVENT_KEYS: ReadonlySet<string> = new Set(["type", "event", "payload", "seq", "stateVersion"]);

const onlyHas = (frame: object, keys: ReadonlySet<string>): boolean => Object.keys(frame).every((key) => keys.has(key));

/** A frame the gateway sent; undefined for what is none. Frames with fields of a later protocol are none either. */
export function parseFrame(text: string): ResponseFrame | EventFrame | undefined {
  let frame: unknown;
  try {
    frame = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof frame !== "object" || frame === null || Array.isArray(frame)) return undefined;
  const { type, id, ok, event, seq } = frame as Record<string, unknown>;
  if (type === "res") return typeof id === "string" && typeof ok === "boolean" && onlyHas(frame, RESPONSE_KEYS) ? (frame as ResponseFrame) : undefined;
  if (type !== "event" || typeof event !== "string" || !onlyHas(frame, EVENT_KEYS)) return undefined;
  return seq === undefined || Number.isSafeInteger(seq) ? (frame as EventFrame) : undefined;
}
