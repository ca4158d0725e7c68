import { hash } from "node:crypto";
import type { HookTrace } from "./events/values.ts";

/** Ids in the format of W3C trace contexts. They are derived from names: the same message has the same trace in every hook, also after a restart. */
export const traceIdOf = (...names: readonly string[]): string => hash("sha256", names.join("\0"), "hex").slice(0, 32);

const spanIdOf = (traceId: string, name: string): string => hash("sha256", `${traceId}\0${name}`, "hex").slice(0, 16);

/** The part of a trace that `span` names, inside of `parent`. */
export function hookTrace(traceId: string, span: string, parent?: string): { traceId: string; spanId: string; parentSpanId?: string } {
  const spanId = spanIdOf(traceId, span);
  return { traceId, spanId, ...(parent === undefined ? {} : { parentSpanId: spanIdOf(traceId, parent) }) };
}

/** The span of a message that came in: everything that follows from it is inside. */
export const MESSAGE_SPAN = "message";

/** The tracing fields of a context of message hooks. A message that a person or a client wrote has the depth 0. */
export function messageTrace(traceId: string, reply = false): HookTrace & { trace: HookTrace; callDepth: number } {
  const trace = reply ? hookTrace(traceId, "reply", MESSAGE_SPAN) : hookTrace(traceId, MESSAGE_SPAN);
  return { ...trace, trace: { ...trace }, callDepth: 0 };
}
