/**
 * Intake, access gate, lanes, commands and directives, reply shaping, delivery.
 * The door of the room: nothing else in this folder is imported from outside.
 */
import type * as commands from "./commands/index.ts";
import type * as delivery from "./delivery/index.ts";
import type * as why from "./why/index.ts";

export type { ReplyAddress } from "./address.ts";
export { createConversation, type Conversation } from "./create-conversation.ts";
export type { LiveEnd, LiveReply } from "./turns/live-replies.ts";
export { fillPrefix, withPrefix } from "./reply/shape/prefix.ts";
export type { ConversationDeps, KeepMedia, KeptMedia } from "./ports.ts";
export type { AcceptedRun, Responder, RunEvent, RunFailure, RunOutcome, RunRequest, RunUsage, ToolEvent } from "./contract.ts";
export { createBegunCommands } from "./commands/begun.ts";
export type { CommandPorts, Commands } from "./commands/index.ts";
export type { ActionRequest, CurrentChat, Messages, MessagesDeps, MirroredMessage, PollRequest, SendRequest, SentMessage } from "./delivery/index.ts";
export type { Delivery, DeliveryDeps, OutgoingFacts, SendReport } from "./delivery/index.ts";

/** Sending, loaded with the first message that goes out over a channel. */
export async function loadDelivery(): Promise<typeof delivery> {
  return import("./delivery/index.ts");
}

/** Commands, loaded with the first message that may be one. */
export async function loadCommands(): Promise<typeof commands> {
  return import("./commands/index.ts");
}

/** Loads all code that messages, commands and answers need, so that none of them waits or fails for it. */
export async function loadTurnCode(): Promise<void> {
  const { loadFormatting } = await loadDelivery();
  await Promise.all([
    loadFormatting(),
    loadCommands(),
    import("./reply/index.ts"),
    import("./commands/handlers/index.ts"),
    import("./commands/native.ts"),
    import("./commands/authority.ts"),
    loadWhy(),
  ]);
}

export type { Story, StoryAbout, StoryStep, StoryStepKind, StoryStore, Verdict, Why, WhyDeps } from "./why/index.ts";

/** What became of a message, loaded by who asks. */
export async function loadWhy(): Promise<typeof why> {
  return import("./why/index.ts");
}
