import type { TurnEnd, TurnEvent } from "../../agent/index.ts";
import type { ReplyPayload } from "../../protocol/index.ts";

/** What is said at the end of a turn. */
export interface FinalReply {
  readonly payloads: readonly ReplyPayload[];
  /** How many of them, from the first, are texts that the model wrote before a call. */
  readonly between?: number;
  /** The message that showed the answer while it was written and now becomes it. */
  readonly previewId?: string;
  /** A message that showed the answer may be there, and nobody knows its id. */
  readonly isPreviewLost?: true;
}

/** Follows one turn and shows what a channel lets people see of it meanwhile: typing, previews, blocks, tools, reasoning. */
export interface ReplyStream {
  event(event: TurnEvent): void;
  /** What is still to be said once the turn is over. Blocks that are out are waited for, and not said again. */
  finish(end: TurnEnd): Promise<FinalReply>;
  /** The turn will not end here: nothing is shown any more. */
  abandon(): Promise<void>;
}
