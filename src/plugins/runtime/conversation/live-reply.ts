import type { TurnEnd, TurnEvent } from "../../../agent/index.ts";
import { messageOf } from "../../../base/errors.ts";
import type { Logger } from "../../../base/log/logger.ts";
import type { LiveReply } from "../../../conversation/index.ts";
import type { ReplyDispatcherOptions, ReplyOptions } from "../../../protocol/index.ts";

/** Calls a plugin and goes on, whatever it does. */
type Tell = (call: () => unknown) => void;

function teller(log: Logger): Tell {
  return (call) => {
    const failed = (error: unknown): void => log.warn(`a plugin that streams a reply failed: ${messageOf(error)}`);
    try {
      Promise.resolve(call()).catch(failed);
    } catch (error) {
      failed(error);
    }
  };
}

/** Texts up to this length are reported with each piece. */
const SHORT_CHARS = 2000;
/** Longer ones are reported when they have grown by this fraction, which bounds the total that a listener reads to a multiple of the text. */
const GROWTH = 1 / 32;

/** Reports a text while it grows, less often the longer it is. Call `flush` before any other event to report the rest. */
function growing(report: (text: string) => void) {
  let text = "";
  let length = 0;
  function flush(): void {
    if (text.length > length) report(text);
    length = text.length;
  }
  return {
    push(whole: string, delta: string): void {
      if (whole.length === delta.length) {
        flush();
        length = 0;
      }
      text = whole;
      if (whole.length <= SHORT_CHARS || whole.length >= length * (1 + GROWTH)) flush();
    },
    flush,
  };
}

/** What happens in a turn, as `replyOptions` tell it. */
function follower(options: ReplyOptions, tell: Tell): { readonly event: (event: TurnEvent) => void; readonly ended: () => void } {
  let thinking = false;
  const answer = growing((text) => tell(() => options.onPartialReply?.({ text })));
  const thoughts = growing((text) => tell(() => options.onReasoningStream?.({ text })));
  function event(event: TurnEvent): void {
    if (event.stream !== "assistant") answer.flush();
    if (thinking && event.stream !== "thinking") {
      thinking = false;
      thoughts.flush();
      tell(() => options.onReasoningEnd?.());
    }
    if (event.stream === "assistant") {
      const { text, delta } = event.data;
      if (text.length === delta.length) {
        answer.flush();
        tell(() => options.onAssistantMessageStart?.());
      }
      answer.push(text, delta);
    } else if (event.stream === "thinking") {
      thinking = true;
      thoughts.push(event.data.text, event.data.delta);
    } else if (event.stream === "tool" && event.data.phase === "start") {
      const { name, phase } = event.data;
      tell(() => options.onToolStart?.({ name, phase }));
    }
  }
  return { event, ended: answer.flush };
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
  const following = follower(replyOptions, tell);
  const { disableBlockStreaming, abortSignal, hasRepliedRef } = replyOptions;
  return {
    async deliver(payload, info) {
      if (info.kind === "block") tell(() => replyOptions.onBlockReply?.(payload));
      if (info.kind === "tool") tell(() => replyOptions.onToolResult?.(payload));
      const answer = await deliver(payload, info);
      if (hasRepliedRef) hasRepliedRef.value = true;
      return answer;
    },
    event: following.event,
    ended({ provider, model, silent }: TurnEnd) {
      following.ended();
      if (provider !== undefined && model !== undefined) tell(() => replyOptions.onModelSelected?.({ provider, model, thinkLevel: undefined }));
      if (silent) tell(() => onSkip?.({ text: "NO_REPLY" }, { kind: "final", reason: "silent" }));
    },
    ...(onReplyStart ? { typing: async () => onReplyStart() } : {}),
    ...(disableBlockStreaming === undefined ? {} : { blocks: !disableBlockStreaming }),
    ...(abortSignal ? { signal: abortSignal } : {}),
  };
}
