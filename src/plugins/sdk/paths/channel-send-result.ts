export { attachChannelToResult, createAttachedChannelResultAdapter, createEmptyChannelResult } from "../newer/send-results.ts";
