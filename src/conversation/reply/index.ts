/** Texts of a turn → what people see of it: while it runs, and at its end. */
export { ackReaction, ackReactionFor, setAckReaction } from "./typing/ack.ts";
export { openReplyStream } from "./open-reply-stream.ts";
export { shapePayload } from "./shape/payload.ts";
export { brokenText } from "./shape/failure.ts";
export { answerFooter } from "./shape/footer.ts";
export { reasoningPayload } from "./lines/notices.ts";
