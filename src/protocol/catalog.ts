/**
 * What is known about every method and event besides its shapes. The build puts the values in as JSON, so that reading a scope or the list
 * of names loads no schema library.
 */
import type { EventFacts } from "./audience.ts";
import { DECLARED_EVENTS, type AgentEvent, type DeclaredEvents, type PayloadOf } from "./events.ts";
import type { MethodFacts, ParamsOf, ResultOf } from "./method.ts";
import { DECLARED_METHODS, type DeclaredMethods } from "./methods/index.ts";

export type MethodName = keyof DeclaredMethods;
export type MethodParams<M extends MethodName> = ParamsOf<DeclaredMethods[M]>;
export type MethodResult<M extends MethodName> = ResultOf<DeclaredMethods[M]>;
export type EventName = keyof DeclaredEvents;
/** As programs work with it: texts of runs are whole, however they were sent. */
export type EventPayload<E extends EventName> = E extends "agent" ? AgentEvent : PayloadOf<DeclaredEvents[E]>;

function without<Spec extends object>(specs: Readonly<Record<string, Spec>>, ...shapes: readonly string[]): Record<string, unknown> {
  const facts = ([name, spec]: [string, Spec]) => [name, Object.fromEntries(Object.entries(spec).filter(([key]) => !shapes.includes(key)))];
  return Object.fromEntries(Object.entries(specs).map(facts));
}

export const METHODS = without(DECLARED_METHODS, "params", "result") as Readonly<Record<MethodName, MethodFacts>>;
export const EVENTS = without(DECLARED_EVENTS, "payload") as Readonly<Record<EventName, EventFacts>>;
