export { createActionGate, jsonResult, readNumberParam, readReactionParams, readStringArrayParam, readStringParam } from "../params.ts";
export { optionalStringEnum, stringEnum } from "../string-enums.ts";
export { readPositiveIntegerParam, ToolAuthorizationError } from "../newer/small.ts";
