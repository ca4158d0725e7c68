import type { Static } from "typebox";
import type { Frozen } from "./method.ts";
import { amount, anything, closed, filled, flag, literal, maybe } from "./pieces.ts";

/** Counters of what `presence` and `health` events describe. */
export const StateVersionSchema = closed({ presence: amount(), health: amount() });

export const ErrorShapeSchema = closed({
  code: filled(),
  message: filled(),
  details: maybe(anything()),
  retryable: maybe(flag()),
  retryAfterMs: maybe(amount()),
});

export const RequestFrameSchema = closed({ type: literal("req"), id: filled(), method: filled(), params: maybe(anything()) });

export const ResponseFrameSchema = closed({
  type: literal("res"),
  id: filled(),
  ok: flag(),
  payload: maybe(anything()),
  error: maybe(ErrorShapeSchema),
});

export const EventFrameSchema = closed({
  type: literal("event"),
  event: filled(),
  payload: maybe(anything()),
  seq: maybe(amount()),
  stateVersion: maybe(StateVersionSchema),
});

export type StateVersion = Frozen<Static<typeof StateVersionSchema>>;
export type ErrorShape = Frozen<Static<typeof ErrorShapeSchema>>;
export type RequestFrame = Frozen<Static<typeof RequestFrameSchema>>;
export type ResponseFrame = Frozen<Static<typeof ResponseFrameSchema>>;
export type EventFrame = Frozen<Static<typeof EventFrameSchema>>;
