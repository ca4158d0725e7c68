import type { ImageContent, ModelMessage, TextContent, ThinkingContent, ToolCallContent } from "../../protocol/index.ts";
import { estimateTokens } from "../../sessions/index.ts";

/** What was left out so that a conversation fits. */
export interface LeftOut {
  /** Messages of which a part was left out. */
  readonly shortened: number;
  /** Oldest messages that were left out as a whole. */
  readonly dropped: number;
  readonly images: number;
}

export interface Fitted {
  readonly messages: readonly ModelMessage[];
  readonly left: LeftOut;
}

const NOTHING: LeftOut = { shortened: 0, dropped: 0, images: 0 };
const CHARS_PER_TOKEN = 4;
/** No text gets shorter than this: what is left has to make sense. */
const LEAST_CHARS = 400;
const HEAD_SHARE = 0.7;
/** What marks and names of arguments take. */
const MARK_TOKENS = 32;
const NO_IMAGE: TextContent = { type: "text", text: "[image left out: it did not fit the model's window]" };

/**
 * The messages so that our guess at their tokens is at most `tokens`, as far as that is possible: results of tools are shortened first, then
 * images go, then other texts are shortened, then the oldest messages go. The last message of the user stays, shortened. Every call keeps its
 * result. Pure; nothing of it is written anywhere.
 */
export function fitMessages(messages: readonly ModelMessage[], tokens: number): Fitted {
  if (estimateTokens(messages) <= tokens) return { messages, left: NOTHING };
  const results = shortened(messages, tokens, ({ role }) => role === "toolResult");
  if (estimateTokens(results.messages) <= tokens) return { messages: results.messages, left: { ...NOTHING, shortened: results.count } };
  const bare = withoutImages(results.messages);
  const goal = tokens - MARK_TOKENS;
  const texts = shortened(bare.messages, goal, () => true);
  const recent = withoutOldest(texts.messages, goal);
  const count = messages.filter((message, at) => texts.messages[at] !== message).length;
  return { messages: recent.messages, left: { shortened: Math.max(0, count - recent.dropped), dropped: recent.dropped, images: bare.images } };
}

/** Replaces every image with a note that says why. */
export function withoutImages(
  messages: readonly ModelMessage[],
  note: TextContent = NO_IMAGE,
): { readonly messages: readonly ModelMessage[]; readonly images: number } {
  let images = 0;
  const out = messages.map((message): ModelMessage => {
    if (typeof message.content === "string" || !message.content.some(({ type }) => type === "image")) return message;
    const content = (message.content as readonly (TextContent | ImageContent)[]).map((part) => {
      if (part.type !== "image") return part;
      images += 1;
      return note;
    });
    return { ...message, content };
  });
  return { messages: images === 0 ? messages : out, images };
}

/** Cuts the longest of the messages that `may` be cut, all to the same length, until everything fits. */
function shortened(
  messages: readonly ModelMessage[],
  tokens: number,
  may: (message: ModelMessage) => boolean,
): { readonly messages: readonly ModelMessage[]; readonly count: number } {
  const sizes = messages.map((message) => (may(message) ? estimateTokens([message]) * CHARS_PER_TOKEN : 0));
  const fixed = messages.reduce((sum, message, at) => sum + (sizes[at] === 0 ? estimateTokens([message]) : 0), 0);
  const limit = evenLimit(sizes, (tokens - fixed) * CHARS_PER_TOKEN);
  let count = 0;
  const out = messages.map((message, at) => {
    if (sizes[at]! <= limit) return message;
    count += 1;
    return cutMessage(message, limit);
  });
  return { messages: count === 0 ? messages : out, count };
}

/** The length to which all sizes have to be cut so that their sum is at most `room`; never less than what makes sense. */
export function evenLimit(sizes: readonly number[], room: number): number {
  const sorted = [...sizes].sort((a, b) => a - b);
  let left = Math.max(0, room);
  for (const [at, size] of sorted.entries()) {
    const share = Math.floor(left / (sorted.length - at));
    if (size > share) return Math.max(share, LEAST_CHARS);
    left -= size;
  }
  return Number.POSITIVE_INFINITY;
}

/** The beginning and the end of a text, with a mark between them. */
export function cutText(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const mark = `\n[… ${text.length - maxChars} of ${text.length} characters left out: they did not fit the model's window …]\n`;
  const room = Math.max(maxChars - mark.length, 0);
  const head = Math.ceil(room * HEAD_SHARE);
  return `${text.slice(0, head)}${mark}${room - head > 0 ? text.slice(-(room - head)) : ""}`.toWellFormed();
}

type Part = TextContent | ImageContent | ThinkingContent | ToolCallContent;

/** A message of at most about `maxChars`: thoughts go, long texts and arguments of calls are cut. */
function cutMessage(message: ModelMessage, maxChars: number): ModelMessage {
  if (typeof message.content === "string") return { ...message, content: cutText(message.content, maxChars) } as ModelMessage;
  const parts = (message.content as readonly Part[]).filter(({ type }) => type !== "thinking");
  const each = Math.max(Math.floor(maxChars / Math.max(1, parts.length)), Math.min(LEAST_CHARS, maxChars));
  const content = parts.map((part): Part => {
    if (part.type === "text") return { type: "text", text: cutText(part.text, each) };
    if (part.type !== "toolCall" || JSON.stringify(part.arguments).length <= each) return part;
    return { ...part, arguments: { shortened: cutText(JSON.stringify(part.arguments), each) } };
  });
  return { ...message, content: content.length > 0 ? content : [{ type: "text", text: "[left out]" }] } as ModelMessage;
}

/** Drops whole turns from the front, the last one never, until the rest fits. A note says so. */
function withoutOldest(messages: readonly ModelMessage[], tokens: number): { readonly messages: readonly ModelMessage[]; readonly dropped: number } {
  const starts = messages.flatMap(({ role }, at) => (role === "user" && at > 0 ? [at] : []));
  let from = 0;
  for (const start of starts) {
    if (estimateTokens(messages.slice(from)) <= tokens) break;
    from = start;
  }
  if (from === 0) return { messages, dropped: 0 };
  const [first, ...rest] = messages.slice(from);
  const note = `[${from} earlier messages are left out: they did not fit the model's window]`;
  const content = typeof first!.content === "string" ? `${note}\n\n${first!.content}` : [{ type: "text" as const, text: note }, ...first!.content];
  return { messages: [{ ...first!, content } as ModelMessage, ...rest], dropped: from };
}

/** What the user is told about it; undefined when nothing was left out. */
export function leftOutText({ shortened: cut, dropped, images }: LeftOut, promptChars = 0): string | undefined {
  const plural = (count: number, one: string): string => `${count} ${one}${count === 1 ? "" : "s"}`;
  const parts = [
    ...(dropped > 0 ? [`${plural(dropped, "earlier message")} left out`] : []),
    ...(cut > 0 ? [`${plural(cut, "long message")} shortened`] : []),
    ...(images > 0 ? [`${plural(images, "image")} left out`] : []),
    ...(promptChars > 0 ? [`${promptChars} characters of instructions (workspace files, skills) left out`] : []),
  ];
  return parts.length === 0 ? undefined : `The conversation did not fit the model's context window: ${parts.join(", ")}. The transcript keeps everything.`;
}
