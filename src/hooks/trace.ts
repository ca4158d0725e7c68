import { hash } from "node:crypto";
import type { HookTrace } from "./events/values.ts";

/** Ids in the W3C trace context format. They are derived from names: the same message has the same trace in every hook, also after a restart. */
export const traceIdOf = (...names: readonly string[]): string => hash("sha256", names.join("\0"), "hex").slice(0, 32);

const spanIdOf = (traceId: string, name: string): string => hash("sha256", `${traceId}\0${name}`, "hex").slice(0, 16);

/** The span `span` of a trace, inside of `parent`. */
export function hookTrace(traceId: string, span: string, parent?: string): { traceId: string; spanId: string; parentSpanId?: string } {
  const spanId = spanIdOf(traceId, span);
  return { traceId, spanId, ...(parent === undefined ? {} : { parentSpanId: spanIdOf(traceId, parent) }) };
}

/** The span of an inbound message: everything that follows from it is inside. */
export const MESSAGE_SPAN = "message";

/** The tracing fields of message hook contexts. A message from a person or a client has depth 0. */
export function messageTrace(traceId: string, reply = false): HookTrace & { trace: HookTrace; callDepth: number } {
  const trace = reply ? hookTrace(traceId, "reply", MESSAGE_SPAN) : hookTrace(traceId, MESSAGE_SPAN);
  return { ...trace, trace: { ...trace }, callDepth: 0 };
}
