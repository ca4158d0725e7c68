import type { ChannelPlugin, ChatType, HostConfig, ReplyToMode } from "../protocol/index.ts";

/** Where an answer goes. It is fixed on the inbound row: nothing that happens later sends it elsewhere. */
export interface ReplyAddress {
  readonly channel: string;
  readonly accountId: string;
  /** As the channel's `outbound` takes it. */
  readonly to: string;
  readonly threadId?: string | number;
  /** The message that is answered. */
  readonly replyToId?: string;
  readonly chatType: ChatType;
}

/** Which messages of an answer name the message that they answer. A channel that does not say, or fails to, names it every time. */
export function replyModeOf(
  plugin: ChannelPlugin | undefined,
  cfg: HostConfig,
  { accountId, chatType }: Pick<ReplyAddress, "accountId" | "chatType">,
): ReplyToMode {
  try {
    return plugin?.threading?.resolveReplyToMode?.({ cfg, accountId, chatType }) ?? "all";
  } catch {
    return "all";
  }
}
