/** The wire as one JSON Schema document, for programs in other languages. */
import { ConnectParamsSchema, HelloOkSchema } from "../../src/protocol/connect.ts";
import { DECLARED_EVENTS } from "../../src/protocol/events.ts";
import { ErrorShapeSchema, EventFrameSchema, RequestFrameSchema, ResponseFrameSchema } from "../../src/protocol/frames.ts";
import { LIMITS, PROTOCOL_VERSION } from "../../src/protocol/limits.ts";
import { DECLARED_METHODS } from "../../src/protocol/methods/index.ts";

const ref = (name: string) => ({ $ref: `#/definitions/${name}` });

/** Draft-07. A frame fits the root; `x-methods` and `x-events` say which definition is whose. */
export function protocolSchema(): Record<string, unknown> {
  const definitions: Record<string, unknown> = {
    RequestFrame: RequestFrameSchema,
    ResponseFrame: ResponseFrameSchema,
    EventFrame: EventFrameSchema,
    ErrorShape: ErrorShapeSchema,
    ConnectParams: ConnectParamsSchema,
    HelloOk: HelloOkSchema,
  };
  const methods: Record<string, unknown> = {};
  for (const [name, { params, result, ...facts }] of Object.entries(DECLARED_METHODS)) {
    definitions[`${name}.params`] = params;
    definitions[`${name}.result`] = result;
    methods[name] = { ...facts, advertised: facts.advertised ?? true, params: ref(`${name}.params`), result: ref(`${name}.result`) };
  }
  const events: Record<string, unknown> = {};
  for (const [name, { payload, ...facts }] of Object.entries(DECLARED_EVENTS)) {
    definitions[`${name}.payload`] = payload;
    events[name] = { ...facts, payload: ref(`${name}.payload`) };
  }
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: `OpenClaw gateway protocol ${PROTOCOL_VERSION}`,
    anyOf: [ref("RequestFrame"), ref("ResponseFrame"), ref("EventFrame")],
    definitions,
    "x-protocol": PROTOCOL_VERSION,
    "x-limits": LIMITS,
    "x-methods": methods,
    "x-events": events,
  };
}
