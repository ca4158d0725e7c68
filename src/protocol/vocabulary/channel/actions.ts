/** What the `message` tool can do on a channel besides sending text. */
import type { HostConfig } from "../host-config.ts";
import type { AgentToolResult } from "../tool.ts";
import type { ChannelThreadingToolContext } from "./conversation.ts";
import type { ChannelId } from "./meta.ts";

export type ChannelMessageActionName =
  | "send"
  | "broadcast"
  | "poll"
  | "react"
  | "reactions"
  | "read"
  | "edit"
  | "unsend"
  | "reply"
  | "sendWithEffect"
  | "renameGroup"
  | "setGroupIcon"
  | "addParticipant"
  | "removeParticipant"
  | "leaveGroup"
  | "sendAttachment"
  | "delete"
  | "pin"
  | "unpin"
  | "list-pins"
  | "permissions"
  | "thread-create"
  | "thread-list"
  | "thread-reply"
  | "search"
  | "sticker"
  | "sticker-search"
  | "member-info"
  | "role-info"
  | "emoji-list"
  | "emoji-upload"
  | "sticker-upload"
  | "role-add"
  | "role-remove"
  | "channel-info"
  | "channel-list"
  | "channel-create"
  | "channel-edit"
  | "channel-delete"
  | "channel-move"
  | "category-create"
  | "category-edit"
  | "category-delete"
  | "topic-create"
  | "voice-status"
  | "event-list"
  | "event-create"
  | "timeout"
  | "kick"
  | "ban"
  | "set-presence";

export interface ChannelMessageActionContext {
  channel: ChannelId;
  action: ChannelMessageActionName;
  cfg: HostConfig;
  params: Record<string, unknown>;
  accountId?: string | null | undefined;
  /** From the inbound message, never from the model. */
  requesterSenderId?: string | null | undefined;
  /** Folders that local files may be read from. */
  mediaLocalRoots?: readonly string[] | undefined;
  gateway?:
    | {
        url?: string | undefined;
        token?: string | undefined;
        timeoutMs?: number | undefined;
        clientName: string;
        clientDisplayName?: string | undefined;
        mode: string;
      }
    | undefined;
  toolContext?: ChannelThreadingToolContext | undefined;
  dryRun?: boolean | undefined;
}

export interface ChannelToolSend {
  to: string;
  accountId?: string | null | undefined;
}

export interface ChannelMessageActionAdapter {
  listActions?(params: { cfg: HostConfig }): ChannelMessageActionName[];
  supportsAction?(params: { action: ChannelMessageActionName }): boolean;
  supportsButtons?(params: { cfg: HostConfig; accountId?: string | null | undefined }): boolean;
  supportsCards?(params: { cfg: HostConfig }): boolean;
  extractToolSend?(params: { args: Record<string, unknown> }): ChannelToolSend | null;
  describeMessageTool?(params: { cfg: HostConfig; accountId?: string | null | undefined }): unknown;
  handleAction?(ctx: ChannelMessageActionContext): Promise<AgentToolResult>;
}
