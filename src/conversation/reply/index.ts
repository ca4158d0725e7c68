/** Texts of a turn → what people see of it: while it runs, and at its end. */
export { markSeen, removeEarlierAck } from "./ack.ts";
export { openReplyStream } from "./reply-stream.ts";
export { readReply, shapePayload, wordsOf } from "./payload.ts";
export { brokenText } from "./notices.ts";
export { answerFooter } from "./notices.ts";
export { reasoningPayload } from "./notices.ts";
