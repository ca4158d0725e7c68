import type { ChatType } from "../protocol/index.ts";

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
