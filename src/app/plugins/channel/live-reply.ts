import type { TurnEnd, TurnEvent } from "../../../agent/index.ts";
import { messageOf } from "../../../base/errors.ts";
import type { Logger } from "../../../base/log/logger.ts";
import type { LiveReply } from "../../../conversation/index.ts";
import type { ReplyDispatcherOptions, ReplyOptions } from "../../../protocol/index.ts";

/** Calls a plugin and goes on, whatever it does. */
type Tell = (call: () => unknown) => void;

function teller(log: Logger): Tell {
  return (call) => {
    const failed = (error: unknown): void => log.warn(`a plugin that follows a reply failed: ${messageOf(error)}`);
    try {
      Promise.resolve(call()).catch(failed);
    } catch (error) {
      failed(error);
    }
  };
}

/** What happens in a turn, as `replyOptions` tell it. */
function follower(options: ReplyOptions, tell: Tell): (event: TurnEvent) => void {
  let thinking = false;
  return (event) => {
    if (thinking && event.stream !== "thinking") {
      thinking = false;
      tell(() => options.onReasoningEnd?.());
    }
    if (event.stream === "assistant") {
      const { text, delta } = event.data;
      if (text.length === delta.length) tell(() => options.onAssistantMessageStart?.());
      tell(() => options.onPartialReply?.({ text }));
    } else if (event.stream === "thinking") {
      thinking = true;
      tell(() => options.onReasoningStream?.({ text: event.data.text }));
    } else if (event.stream === "tool" && event.data.phase === "start") {
      const { name, phase } = event.data;
      tell(() => options.onToolStart?.({ name, phase }));
    }
  };
}

export interface LiveReplyParts {
  readonly deliver: LiveReply["deliver"];
  readonly options: Partial<ReplyDispatcherOptions>;
  readonly replyOptions: ReplyOptions;
  readonly log: Logger;
}

/** A plugin that is handed the replies to its message. */
export function liveReply({ deliver, options, replyOptions, log }: LiveReplyParts): LiveReply {
  const tell = teller(log);
  const { onReplyStart, onSkip } = options;
  const { disableBlockStreaming, abortSignal, hasRepliedRef } = replyOptions;
  return {
    async deliver(payload, info) {
      if (info.kind === "block") tell(() => replyOptions.onBlockReply?.(payload));
      if (info.kind === "tool") tell(() => replyOptions.onToolResult?.(payload));
      const answer = await deliver(payload, info);
      if (hasRepliedRef) hasRepliedRef.value = true;
      return answer;
    },
    event: follower(replyOptions, tell),
    ended({ provider, model, silent }: TurnEnd) {
      if (provider !== undefined && model !== undefined) tell(() => replyOptions.onModelSelected?.({ provider, model, thinkLevel: undefined }));
      if (silent) tell(() => onSkip?.({ text: "NO_REPLY" }, { kind: "final", reason: "silent" }));
    },
    ...(onReplyStart ? { typing: async () => onReplyStart() } : {}),
    ...(disableBlockStreaming === undefined ? {} : { blocks: !disableBlockStreaming }),
    ...(abortSignal ? { signal: abortSignal } : {}),
  };
}
