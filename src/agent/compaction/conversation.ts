import { clip } from "../../base/text.ts";
import type { ModelMessage } from "../../protocol/index.ts";
import type { PathItem } from "../../sessions/index.ts";
import { plain } from "./blocks.ts";

/** Of a result, a summary needs its beginning; of arguments, what the call was about. */
const RESULT_CHARS = 2_000;
const ARGUMENTS_CHARS = 1_000;
const THINKING_CHARS = 2_000;
/** Something somebody pasted is not the conversation. */
const WORDS_CHARS = 40_000;

/** Text of a message; an image is named. */
export function textOf({ content }: ModelMessage): string {
  if (typeof content === "string") return content;
  return content.flatMap((part) => (part.type === "text" ? [part.text] : part.type === "image" ? ["[image]"] : [])).join("\n");
}

export function callsOf(message: ModelMessage): readonly { readonly name: string; readonly args: string }[] {
  if (message.role !== "assistant") return [];
  return message.content.flatMap((part) => (part.type === "toolCall" ? [{ name: part.name, args: JSON.stringify(part.arguments) }] : []));
}

function thinkingOf(message: ModelMessage): string {
  return message.role === "assistant" ? message.content.flatMap((part) => (part.type === "thinking" ? [part.thinking] : [])).join("\n") : "";
}

/** One message as it stands in the prompt for a summary. */
function serialised(message: ModelMessage): string {
  const words = clip(textOf(message).trim(), message.role === "toolResult" ? RESULT_CHARS : WORDS_CHARS);
  if (message.role === "user") return `[User]: ${words}`;
  if (message.role === "toolResult") return `[Tool result]: ${message.isError ? "error: " : ""}${words}`;
  const thinking = clip(thinkingOf(message).trim(), THINKING_CHARS);
  const calls = callsOf(message).map(({ name, args }) => `${name}(${clip(args, ARGUMENTS_CHARS)})`);
  return [
    ...(thinking === "" ? [] : [`[Assistant thinking]: ${thinking}`]),
    ...(words === "" ? [] : [`[Assistant]: ${words}`]),
    ...(calls.length === 0 ? [] : [`[Assistant tool calls]: ${calls.join("; ")}`]),
  ].join("\n\n");
}

/** A stretch of the conversation as text, with the messages it was made from. */
export interface Stretch {
  readonly text: string;
  readonly items: readonly PathItem[];
}

/** The conversation in stretches of at most `maxChars`; a message that is longer by itself is cut. Nothing in it can end the tag it stands in. */
export function stretches(items: readonly PathItem[], maxChars: number): readonly Stretch[] {
  const out: { texts: string[]; items: PathItem[]; chars: number }[] = [];
  for (const item of items) {
    if (!item.message) continue;
    const text = clip(plain(serialised(item.message)), Math.max(maxChars - 1, 1));
    if (text === "") continue;
    const last = out.at(-1);
    if (last && last.chars + text.length + 2 <= maxChars) {
      last.texts.push(text);
      last.items.push(item);
      last.chars += text.length + 2;
    } else out.push({ texts: [text], items: [item], chars: text.length });
  }
  return out.map(({ texts, items: own }) => ({ text: texts.join("\n\n"), items: own }));
}
