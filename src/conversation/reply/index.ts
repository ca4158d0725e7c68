/** Texts of a turn → what people see of it: while it runs, and at its end. */
export { ackReactionFor, setAckReaction, type AckFacts, type AckReaction, type AckReactionDeps } from "./typing/ack.ts";
export { openReplyStream } from "./open-reply-stream.ts";
export { failurePayload } from "./shape/failure.ts";
export { shapePayload, shapeText, withoutRepeats, type ShapeFacts } from "./shape/payload.ts";
export { fillPrefix, prefixContext, responsePrefix, withPrefix } from "./shape/prefix.ts";
export type { ReplyLevels, ReplyStreamDeps } from "./stream-deps.ts";
export type { FinalReply, ReplyStream } from "./stream.ts";
