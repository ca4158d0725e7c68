/** The shapes that the gateway checks, as plain JSON Schema. The build puts the value in as JSON. */
import { ConnectParamsSchema } from "./connect.ts";
import { RequestFrameSchema } from "./frames.ts";
import type { JsonSchema } from "./check.ts";
import type { MethodName } from "./catalog.ts";
import { DECLARED_METHODS } from "./methods/index.ts";

export interface CheckedSchemas {
  readonly request: JsonSchema;
  readonly connect: JsonSchema;
  readonly params: Readonly<Record<MethodName, JsonSchema>>;
}

const params = Object.fromEntries(Object.entries(DECLARED_METHODS).map(([name, spec]) => [name, spec.params]));

export const CHECKED_SCHEMAS = { request: RequestFrameSchema, connect: ConnectParamsSchema, params } as unknown as CheckedSchemas;
