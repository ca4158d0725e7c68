import type { ModelMessage, TextContent } from "../../protocol/index.ts";
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
    if (message.role === "assistant" || typeof message.content === "string" || !message.content.some(({ type }) => type === "image")) return message;
    const content = message.content.map((part) => {
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
  const sized = messages.map((message) => ({ message, chars: may(message) ? estimateTokens([message]) * CHARS_PER_TOKEN : 0 }));
  const fixed = estimateTokens(sized.flatMap(({ message, chars }) => (chars === 0 ? [message] : [])));
  const limit = evenLimit(
    sized.map(({ chars }) => chars),
    (tokens - fixed) * CHARS_PER_TOKEN,
  );
  let count = 0;
  const out = sized.map(({ message, chars }) => {
    if (chars <= limit) return message;
    count += 1;
    return cutMessage(message, limit);
  });
  return { messages: count === 0 ? messages : out, count };
}

/** The length to which all sizes have to be cut so that their sum is at most `most`; never less than what makes sense. */
export function evenLimit(sizes: readonly number[], most: number): number {
  const sorted = [...sizes].sort((a, b) => a - b);
  let left = Math.max(0, most);
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
  const available = Math.max(maxChars - mark.length, 0);
  const head = Math.ceil(available * HEAD_SHARE);
  return `${text.slice(0, head)}${mark}${available - head > 0 ? text.slice(-(available - head)) : ""}`.toWellFormed();
}

const LEFT_OUT: TextContent = { type: "text", text: "[left out]" };

/** A message of at most about `maxChars`: thoughts go, long texts and arguments of calls are cut. */
function cutMessage(message: ModelMessage, maxChars: number): ModelMessage {
  if (message.role === "assistant") {
    const parts = message.content.filter((part) => part.type !== "thinking");
    const each = charsEach(parts, maxChars);
    const content = parts.map((part) => {
      if (part.type === "text") return { type: "text" as const, text: cutText(part.text, each) };
      const json = JSON.stringify(part.arguments);
      return json.length <= each ? part : { ...part, arguments: { shortened: cutText(json, each) } };
    });
    return { ...message, content: content.length > 0 ? content : [LEFT_OUT] };
  }
  if (typeof message.content === "string") return message.role === "user" ? { ...message, content: cutText(message.content, maxChars) } : message;
  const each = charsEach(message.content, maxChars);
  const content = message.content.map((part) => (part.type === "text" ? { type: "text" as const, text: cutText(part.text, each) } : part));
  return { ...message, content: content.length > 0 ? content : [LEFT_OUT] };
}

const charsEach = (parts: readonly unknown[], maxChars: number): number =>
  Math.max(Math.floor(maxChars / Math.max(1, parts.length)), Math.min(LEAST_CHARS, maxChars));

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
  // A turn begins with the user's message.
  if (first?.role !== "user") return { messages, dropped: 0 };
  const note = `[${from} earlier messages are left out: they did not fit the model's window]`;
  const content = typeof first.content === "string" ? `${note}\n\n${first.content}` : [{ type: "text" as const, text: note }, ...first.content];
  return { messages: [{ ...first, content }, ...rest], dropped: from };
}

/** What the user is shown about it; undefined when nothing was left out. */
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
