import { createCheck, type JsonSchema, type SchemaCheck } from "./check.ts";
import type { MethodName } from "./catalog.ts";
import { CHECKED_SCHEMAS } from "./schemas.ts";

/** Checks of what clients send. Each gives the documented texts, one for each thing that is wrong, or undefined. */
export interface Validators {
  /** The parameters of a method. Missing parameters count as `{}`. */
  params(method: MethodName, value: unknown): readonly string[] | undefined;
  /** A request frame. */
  frame(value: unknown): readonly string[] | undefined;
  /** The parameters of `connect`. */
  connect(value: unknown): readonly string[] | undefined;
}

/** The checks are made when they are used for the first time. */
export function createValidators(): Validators {
  const made = new Map<JsonSchema, SchemaCheck>();
  const check = (schema: JsonSchema, value: unknown): readonly string[] | undefined => {
    let found = made.get(schema);
    if (!found) made.set(schema, (found = createCheck(schema)));
    return found(value);
  };
  return {
    params: (method, value) => check(CHECKED_SCHEMAS.params[method], value ?? {}),
    frame: (value) => check(CHECKED_SCHEMAS.request, value),
    connect: (value) => check(CHECKED_SCHEMAS.connect, value),
  };
}
