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

/** A text that the model wrote before a call, as it is sent while the turn goes on. */
export interface EarlyReply extends Pick<FinalReply, "payloads" | "previewId" | "isPreviewLost"> {
  /** Its rows are on disk. Until this is called, nothing else of the answer goes out. */
  committed(): void;
}

/** Follows one turn and shows what a channel lets people see of it meanwhile: typing, previews, blocks, tools, reasoning. */
export interface ReplyStream {
  event(event: TurnEvent): void;
  /**
   * The text of an answer after which the turn goes on. What is left of it to be sent now; undefined where texts wait for the end of the turn, because
   * people see nothing of it before.
   */
  between(text: string): Promise<EarlyReply | undefined>;
  /** What is still to be said once the turn is over. Blocks that are out are waited for, and not said again. */
  finish(end: TurnEnd): Promise<FinalReply>;
  /** The turn will not end here: nothing is shown any more. */
  abandon(): Promise<void>;
}
