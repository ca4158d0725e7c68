export { channelBlockedPatch, channelReadyPatch, channelStoppedPatch } from "../newer/status-adapters.ts";
export { safeParseJson } from "../text.ts";
