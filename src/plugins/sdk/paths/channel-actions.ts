export { createActionGate, jsonResult, readNumberParam, readReactionParams, readStringArrayParam, readStringParam } from "../params.ts";
export { optionalStringEnum, stringEnum } from "../values/string-enums.ts";
export { readPositiveIntegerParam, ToolAuthorizationError } from "../values/small.ts";
