export { attachChannelToResult, createAttachedChannelResultAdapter, createEmptyChannelResult } from "../messages/send-results.ts";
