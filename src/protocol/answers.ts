import { createCheck, type JsonSchema } from "./check.ts";
import type { EventName, MethodName } from "./catalog.ts";
import { HelloOkSchema } from "./connect.ts";
import { DECLARED_EVENTS } from "./events.ts";
import { EventFrameSchema, ResponseFrameSchema } from "./frames.ts";
import { DECLARED_METHODS } from "./methods/index.ts";

/** Checks of what the gateway says, for tests of handlers and clients. The gateway itself does not spend time on them. */
export interface AnswerChecks {
  result(method: MethodName, value: unknown): readonly string[] | undefined;
  event(name: EventName, payload: unknown): readonly string[] | undefined;
  hello(value: unknown): readonly string[] | undefined;
  frame(value: unknown): readonly string[] | undefined;
}

export function createAnswerChecks(): AnswerChecks {
  const check = (schema: unknown, value: unknown) => createCheck(schema as JsonSchema)(value);
  return {
    result: (method, value) => check(DECLARED_METHODS[method].result, value),
    event: (name, payload) => check(DECLARED_EVENTS[name].payload, payload),
    hello: (value) => check(HelloOkSchema, value),
    frame: (value) => check({ anyOf: [ResponseFrameSchema, EventFrameSchema] }, value),
  };
}
