/** Replies on their way out: hooks, pieces, rows, attempts. */
export { buttonsFor } from "../buttons.ts";
export { createDelivery } from "./create-delivery.ts";
export type { Delivery, OutgoingFacts, PreparedReply, SendReport } from "./delivery.ts";
export { DEFAULT_LIMITS, type ChannelTable, type DeliveryDeps, type DeliveryLimits } from "./delivery.ts";
export { classifyFailure, type FailedAttempt } from "../send-failure.ts";
export type { LiveDeliver } from "./attempt.ts";
export type { RowPayload } from "./attempt.ts";
export {
  createMessages,
  type ActionRequest,
  type Messages,
  type MessagesDeps,
  type MirroredMessage,
  type PollRequest,
  type SendRequest,
  type SentMessage,
} from "./messages.ts";
export { messageTool, type CurrentChat, type MessageToolDeps } from "./message-tool.ts";
export { resolveAddress, resolveChannel, type ResolvedAddress, type SendingChannels, type TargetRequest } from "./targets.ts";

/** What formats answers for channels. */
export { loadRichText as loadFormatting } from "../../channels/index.ts";
