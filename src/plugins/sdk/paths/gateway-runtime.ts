export { channelBlockedPatch, channelReadyPatch, channelStoppedPatch } from "../messages/status-adapters.ts";
export { safeParseJson } from "../text.ts";
