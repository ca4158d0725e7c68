export { resolveHumanDelayConfig } from "../../../channels/index.ts";
export { jsonResult, readStringArrayParam, readStringParam } from "../params.ts";
export { resolveAckReaction } from "../messages/replies.ts";
export { readPositiveIntegerParam } from "../values/small.ts";
