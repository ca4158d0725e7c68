/** How a channel hands to the host what happens in its chats. */
import type { ChatType, HostConfig } from "../host-config.ts";
import type { MsgContext, NormalizedLocation } from "../message-context.ts";

/**
 * What happened. Everything passes the same gate. `command` is one of the platform's own menu, `button` a pressed one: both are answered as if their
 * text had been written. `edit`, `reaction`, `member` and `notice` start no turn: the session's next one is notified.
 */
export type ChannelInboundKind = "message" | "command" | "button" | "edit" | "reaction" | "member" | "notice";

export interface ChannelInboundChat {
  type: ChatType;
  /** As the platform gives it. */
  id: string;
  threadId?: string | number | undefined;
  isForum?: boolean | undefined;
  /** Of a group. Other people's words. */
  title?: string | undefined;
  /** `#general`. */
  channelName?: string | undefined;
  space?: string | undefined;
  /** The chat that a thread with an id of its own belongs to. */
  parentId?: string | undefined;
  /** The name of that chat. */
  parentName?: string | undefined;
  guildId?: string | undefined;
  /** The server's name as a key of the configuration, where it is the only server of that name. */
  guildSlug?: string | undefined;
  teamId?: string | undefined;
}

export interface ChannelInboundSender {
  /** The one that its owner cannot change. Allow lists compare this, never a name. */
  id: string;
  /** Other spellings of the same unchangeable identity, such as a phone number beside a uuid. */
  otherIds?: string[] | undefined;
  name?: string | undefined;
  username?: string | undefined;
  tag?: string | undefined;
  e164?: string | undefined;
  roles?: string[] | undefined;
  isBot?: boolean | undefined;
}

/** What the platform itself says about who was spoken to. */
export interface ChannelInboundMention {
  /** We were named. */
  mentioned?: boolean | undefined;
  /** It answers one of our messages, or the like. */
  implicit?: boolean | undefined;
  /** Someone else was mentioned. */
  others?: boolean | undefined;
  /** False where a mention cannot be seen. Default true. */
  canDetect?: boolean | undefined;
  /** Our own name there, for `/command@name`. */
  botUsername?: string | undefined;
}

/** A file that came along. It is fetched when its turn begins, through `ChannelPlugin.media`. */
export interface ChannelInboundMedia {
  kind: "image" | "video" | "audio" | "document" | "sticker" | "attachment";
  /** How the channel finds it again, as JSON; kept with the message. */
  ref: unknown;
  mimeType?: string | undefined;
  fileName?: string | undefined;
  /** As the platform states it. A file that is too large by that is not fetched. */
  bytes?: number | undefined;
  /** Of audio and video. */
  durationSeconds?: number | undefined;
  /** Spoken into the chat, not an audio file. */
  isVoice?: boolean | undefined;
}

export interface ChannelInboundEvent {
  kind: ChannelInboundKind;
  /** The platform's id of this event: with channel, account and chat it names it for good. An edit or a reaction has one of its own. */
  id: string;
  chat: ChannelInboundChat;
  sender: ChannelInboundSender;
  text: string;
  /** Where an answer goes, as `outbound.to` takes it. */
  to: string;
  /** When it was written, in milliseconds. */
  at?: number | undefined;
  mention?: ChannelInboundMention | undefined;
  media?: ChannelInboundMedia[] | undefined;
  location?: NormalizedLocation | undefined;
  replyTo?:
    | {
        id: string;
        body?: string | undefined;
        sender?: string | undefined;
        isQuote?: boolean | undefined;
      }
    | undefined;
  /** Texts from strangers that belong to it, such as a channel's topic: the model sees them as data. */
  untrusted?: string[] | undefined;
  /** Added to the system prompt of its turn: from the configuration only, never from the platform. */
  groupSystemPrompt?: string | undefined;
  /** Only these skills, where the configuration of the group says so. */
  skillFilter?: string[] | undefined;
  /** It waited on the platform while the account was not receiving. Such messages of one sender are answered together. */
  backlog?: boolean | undefined;
  /** A longer message that the platform cut, or an album: parts with the same key that follow each other within the time are one message. */
  joins?: { key: string; waitMs: number } | undefined;
  /** Further fields of the message context: `ForwardedFrom`, `Sticker`, `ThreadLabel`, …. */
  context?: MsgContext | undefined;
}

/** What became of an event that was offered. */
export type ChannelInboundResult =
  /** It is on disk and has its outcome to come. */
  | { outcome: "accepted"; duplicate: boolean }
  /** The gate said no; that is on disk, too. */
  | { outcome: "refused"; why: string }
  /** Kept for the session's next turn. */
  | { outcome: "noted" };

/** Given to `gateway.startAccount`. */
export interface ChannelInbound {
  /**
   * Resolves when the event is on disk or was turned away: acknowledge it to the platform only then. Rejects when nothing was taken (`OVERLOADED`,
   * `UNAVAILABLE`): offer it again later, in order.
   */
  accept(event: ChannelInboundEvent): Promise<ChannelInboundResult>;
}

/** Fetches files that came with messages. */
export interface ChannelMediaAdapter {
  fetch(params: {
    cfg: HostConfig;
    accountId: string;
    ref: unknown;
    maxBytes: number;
    signal: AbortSignal;
  }): Promise<{ data: Uint8Array; mimeType?: string | undefined; fileName?: string | undefined }>;
}

/** A message that shows an answer while it is being written, and becomes the answer. */
export interface ChannelPreview {
  /** Shows this much; called with growing text, not more often than `previewIntervalMs`. */
  update(text: string): Promise<void>;
  /**
   * Of the message that shows it, once it is there; a process that takes the turn up goes on in the same one. `null`: it may be there, and nobody knows
   * its id.
   */
  id?(): string | null | undefined;
  /** Nothing more will be shown. The id of the message that the final one replaces, if there is one. */
  seal(): Promise<string | undefined>;
  /** Takes it away. */
  discard(): Promise<void>;
}

export interface ChannelPreviewAdapter {
  /** Undefined: not here. */
  open(params: {
    cfg: HostConfig;
    accountId: string;
    to: string;
    threadId?: string | number | undefined;
    replyToId?: string | undefined;
    chatType: ChatType;
    /** A process before this one showed it in this message. */
    previewId?: string | undefined;
    signal: AbortSignal;
  }): ChannelPreview | undefined;
  /** Least time between two updates. Default 1000. */
  intervalMs?: number | undefined;
  /** Nothing is shown below this length. Default 30. */
  minChars?: number | undefined;
  maxChars?: number | undefined;
}

/** Shows that an answer is being written. */
export interface ChannelTypingAdapter {
  start(params: { cfg: HostConfig; accountId: string; to: string; threadId?: string | number | undefined; signal: AbortSignal }): Promise<void>;
  stop?(params: { cfg: HostConfig; accountId: string; to: string; threadId?: string | number | undefined }): Promise<void>;
  /** How often it has to be shown again. Default 6000. */
  refreshMs?: number | undefined;
}

/** Reactions of ours to messages: the sign that one was seen. */
export interface ChannelReactionAdapter {
  /** An empty emoji takes ours away. */
  set(params: { cfg: HostConfig; accountId: string; to: string; messageId: string; emoji: string; signal?: AbortSignal | undefined }): Promise<void>;
}

/** A command as a platform's menu offers it. */
export interface NativeCommandSpec {
  name: string;
  description: string;
  acceptsArgs: boolean;
  /** Choices of the first argument, where there are some. */
  choices?: string[] | undefined;
}

export interface ChannelNativeCommandAdapter {
  /** Replaces what the platform's menu offers; an empty list clears it. Called after the account has started, and when commands change. */
  register(params: { cfg: HostConfig; accountId: string; commands: NativeCommandSpec[]; signal: AbortSignal }): Promise<void>;
}
