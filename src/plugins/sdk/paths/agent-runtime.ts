export { resolveHumanDelayConfig } from "../../../channels/index.ts";
export { jsonResult, readStringArrayParam, readStringParam } from "../params.ts";
export { resolveAckReaction } from "../replies.ts";
export { readPositiveIntegerParam } from "../newer/small.ts";
