import { choice, flag, group, text } from "../pieces.ts";
import { groupChat } from "../parts.ts";
import { inbound, queue } from "./queue.ts";
import { tts } from "./tts.ts";

export const messages = group("How messages are taken and answered.", {
  messagePrefix: text("Text put before what people write."),
  responsePrefix: text("Text put before replies; auto is the agent's name, {model} and others are filled in."),
  groupChat: groupChat("Behaviour in groups."),
  queue,
  inbound,
  ackReaction: text("Emoji set on a message that is being answered."),
  ackReactionScope: choice("On which messages it is set.", ["group-mentions", "group-all", "direct", "all"]),
  removeAckAfterReply: flag("Take it away after the reply."),
  suppressToolErrors: flag("Do not show warnings about failed tools."),
  tts,
});
