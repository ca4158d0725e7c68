import type { ModelMessage, ToolSchema } from "../../protocol/index.ts";
import { estimateTokens, REFUSED_IMAGE, tokensOfChars } from "../../sessions/index.ts";
import { cutText, fitMessages, leftOutText, withoutImages, type LeftOut } from "../compaction/index.ts";
import type { Measure } from "./compactor.ts";

/** The size of a conversation: what the provider counted at its last answer, and our guess. */
export interface Size {
  /** 0 when nothing was counted since the last compaction. What was counted includes the system prompt and the tools. */
  readonly counted: number;
  /** The guess for what came after it. */
  readonly estimated: number;
  /** The guess for all messages. */
  readonly whole: number;
}

/** Makes a request fit the model's window, whatever the conversation holds. Nothing of it is written: the transcript keeps everything. */
export interface RequestFit {
  /** As it is sent. */
  readonly systemPrompt: string;
  readonly measure: () => Measure;
  /** Tokens of a request with this conversation. */
  total(size: Size): number;
  /** What of the messages is sent. */
  fit(messages: readonly ModelMessage[], total: number): readonly ModelMessage[];
  /** The provider refused these as too long: next time at most half of it is sent. */
  refused(sent: readonly ModelMessage[]): void;
  /** The provider refused images or the size of the request. True when images are left out from now on. */
  refusedImages(sent: readonly ModelMessage[]): boolean;
  /** What was left out since it was last asked, for the user. */
  takeNotice(): string | undefined;
}

/** Left free for the answer. */
const ANSWER_SHARE = 0.08;
/** So much of the window the system prompt and the tools may take together before the prompt is shortened. */
const MOST_OVERHEAD = 0.6;
const LEAST_PROMPT_CHARS = 2_000;
const LEAST_MESSAGE_TOKENS = 100;
const MOST_SCALE = 4;
const CHARS_PER_TOKEN = 4;

export function createRequestFit({
  window,
  tools,
  systemPrompt: whole,
}: {
  readonly window: number;
  readonly systemPrompt: string;
  readonly tools: readonly ToolSchema[];
}): RequestFit {
  const toolTokens = tools.length === 0 ? 0 : tokensOfChars(JSON.stringify(tools).length);
  let systemPrompt = whole;
  let scale = 1;
  /** Tokens that the messages may have, after the provider refused more. */
  let allowed = Number.POSITIVE_INFINITY;
  let bare = false;
  let refusal: string | undefined;
  let left: LeftOut | undefined;
  let reported = "";

  const overhead = (): number => tokensOfChars(systemPrompt.length) + toolTokens;

  /** The prompt is cut where it and the tools would leave no space for the conversation. */
  function shortenPrompt(maxChars: number): void {
    systemPrompt = cutText(systemPrompt, Math.max(LEAST_PROMPT_CHARS, maxChars));
  }

  function messageTokens(): number {
    if (overhead() * scale > window * MOST_OVERHEAD) shortenPrompt(Math.floor(((window * MOST_OVERHEAD) / scale - toolTokens) * CHARS_PER_TOKEN));
    return Math.max(LEAST_MESSAGE_TOKENS, Math.floor((window * (1 - ANSWER_SHARE)) / scale) - overhead());
  }

  return {
    get systemPrompt() {
      return systemPrompt;
    },
    measure: () => ({ overhead: Math.ceil(overhead() * scale), scale }),
    total({ counted, estimated, whole }) {
      if (counted === 0) return Math.ceil((whole + overhead()) * scale);
      // The provider's count shows how far off our guess is: other languages and data make more tokens of the same text.
      const guessed = overhead() + whole - estimated;
      if (guessed > 0) scale = Math.min(Math.max(counted / guessed, 1), MOST_SCALE);
      return counted + Math.ceil(estimated * scale);
    },
    fit(messages, total) {
      const shown = bare ? withoutImages(messages, REFUSED_IMAGE).messages : messages;
      if (allowed === Number.POSITIVE_INFINITY && total <= window * (1 - ANSWER_SHARE)) return shown;
      const fitted = fitMessages(shown, Math.max(LEAST_MESSAGE_TOKENS, Math.min(allowed, messageTokens())));
      left = fitted.left;
      return fitted.messages;
    },
    refused(sent) {
      const size = estimateTokens(sent);
      allowed = Math.max(LEAST_MESSAGE_TOKENS, Math.floor(Math.min(allowed, size) / 2));
      // What is left of the conversation is small beside the instructions: they have to get shorter, too.
      if (size < overhead() / 2) shortenPrompt(Math.floor(systemPrompt.length / 2));
    },
    refusedImages(sent) {
      const { images } = withoutImages(sent);
      if (bare || images === 0) return false;
      bare = true;
      refusal = `The provider rejected the images: ${images === 1 ? "1 image" : `${images} images`} left out of this conversation from now on. The transcript keeps everything.`;
      return true;
    },
    takeNotice() {
      const fitted = left && leftOutText(left, whole.length - systemPrompt.length);
      const text = [refusal, fitted].filter((part) => part !== undefined).join("\n");
      if (text === "" || text === reported) return undefined;
      reported = text;
      return text;
    },
  };
}
