/**
 * Intake, access gate, lanes, commands and directives, reply shaping, delivery.
 * The entry point: nothing else in this folder is imported from outside.
 */
import type * as approvalChats from "./approvals/approval-chats.ts";
import type * as followUp from "./approvals/follow-up.ts";
import type * as commands from "./commands/create-commands.ts";
import type * as delivery from "./delivery/index.ts";
import type * as keepMedia from "./keep-media.ts";
import type * as sentFile from "./sent-file.ts";
import type * as sessionPost from "./session-post.ts";
import type * as why from "./why/index.ts";

export type { ReplyAddress } from "./address.ts";
export { createConversation, type Conversation } from "./create-conversation.ts";
export type { LiveEnd, LiveReply } from "./turns/live-replies.ts";
export { fillPrefix, withPrefix } from "./reply/prefix.ts";
export type { AnswerSpeech, ConversationDeps, KeepMedia, KeptMedia, Recording, Transcribe } from "./ports.ts";
export { archiveAfterMs, sessionMessage } from "./closing.ts";
export { jobSlots } from "./slots.ts";
export { GREETING } from "./contract.ts";
export type { AcceptedRun, HeartbeatResult, HeartbeatRun, Responder, RunEvent, RunFailure, RunOutcome, RunRequest, RunUsage, ToolEvent } from "./contract.ts";
export { acceptedRequest, EXCHANGES } from "./inbound.ts";
export { createButtonSeal } from "./button-seal.ts";
export { createBegunCommands } from "./commands/begun.ts";
export type { Commands } from "./commands/commands.ts";
export type { CommandPorts, SubagentView } from "./commands/ports.ts";
export type { ActionRequest, CurrentChat, Messages, MessagesDeps, MirroredMessage, PollRequest, SendRequest, SentMessage } from "./delivery/index.ts";
export type { Delivery, DeliveryDeps, OutgoingFacts, SendReport } from "./delivery/index.ts";
export { receiptOf, type Receipt } from "./delivery/receipt.ts";

/** Sending, loaded with the first message that goes out over a channel. */
export async function loadDelivery(): Promise<typeof delivery> {
  return import("./delivery/index.ts");
}

/** Files that answers name, loaded with the first that a client shows. */
export async function loadSentFiles(): Promise<typeof sentFile> {
  return import("./sent-file.ts");
}

/** Commands, loaded with the first message that may be one. */
export async function loadCommands(): Promise<typeof commands> {
  return import("./commands/create-commands.ts");
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
    loadFollowUps(),
    loadKeepMedia(),
    loadSessionPost(),
  ]);
}

export type { Story, StoryAbout, StoryStep, StoryStepKind, StoryStore, Verdict, Why, WhyDeps } from "./why/index.ts";

/** What became of a message, loaded by who asks. */
export async function loadWhy(): Promise<typeof why> {
  return import("./why/index.ts");
}

export { createRunningCommands, commandsFolder, endLeftCommands, originOf, takeUpCommands, type RunningCommands } from "./approvals/pending-commands.ts";
export type { FollowUps } from "./approvals/follow-up.ts";
export { lazyCommands } from "./commands/commands.ts";
export { lazyDelivery } from "./delivery/delivery.ts";
export { runChannels, type ChannelTable, type RunningChannels } from "./run-channels.ts";

/** How sessions continue after a command that waited for approval. Loaded with the first. */
export const loadFollowUps = async (): Promise<typeof followUp> => import("./approvals/follow-up.ts");

/** Questions for approval in chats. Loaded with the first. */
export const loadApprovalChats = async (): Promise<typeof approvalChats> => import("./approvals/approval-chats.ts");

/** Messages between sessions. Loaded with the first. */
export const loadSessionPost = async (): Promise<typeof sessionPost> => import("./session-post.ts");

/** Storing files of messages. Loaded with the first. */
export const loadKeepMedia = async (): Promise<typeof keepMedia> => import("./keep-media.ts");
