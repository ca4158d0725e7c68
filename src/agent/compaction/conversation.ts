import { clip } from "../../base/text.ts";
import type { ModelMessage } from "../../protocol/index.ts";
import type { PathItem } from "../../sessions/index.ts";

/** Of a result, a summary needs its beginning; of arguments, what the call was about. */
const RESULT_CHARS = 2_000;
const ARGUMENTS_CHARS = 1_000;
const THINKING_CHARS = 2_000;
/** Pasted text is not the conversation. */
const TEXT_CHARS = 40_000;

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
  const text = clip(textOf(message).trim(), message.role === "toolResult" ? RESULT_CHARS : TEXT_CHARS);
  if (message.role === "user") return `[User]: ${text}`;
  if (message.role === "toolResult") return `[Tool result]: ${message.isError ? "error: " : ""}${text}`;
  const thinking = clip(thinkingOf(message).trim(), THINKING_CHARS);
  const calls = callsOf(message).map(({ name, args }) => `${name}(${clip(args, ARGUMENTS_CHARS)})`);
  return [
    ...(thinking === "" ? [] : [`[Assistant thinking]: ${thinking}`]),
    ...(text === "" ? [] : [`[Assistant]: ${text}`]),
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

/** Parts of a summary that are put there by rule, each in a tag of its own. */
export type BlockName = "read-files" | "modified-files" | "standing-instructions" | "pending-work" | "workspace-rules";

const NAMES: readonly BlockName[] = ["read-files", "modified-files", "standing-instructions", "pending-work", "workspace-rules"];
/** Tags that mean something in a prompt or a summary, in any spelling a model might take for one. */
const TAGS = new RegExp(`<(\\s*/?\\s*(?:${[...NAMES, "conversation", "previous-summary", "summary"].join("|")})\\b)`, "gi");
const FIRST_BLOCK = new RegExp(`(?:^|\\n)<(?:${NAMES.join("|")})>\\n`);

/** Text that cannot open or close one of our tags. */
export function plain(text: string): string {
  return text.replace(TAGS, "<\\$1");
}

/** A block, or nothing when it is empty. Its lines are made harmless. */
export function block(name: BlockName, lines: readonly string[]): string {
  return lines.length === 0 ? "" : `<${name}>\n${lines.map(plain).join("\n")}\n</${name}>`;
}

/** A summary without what was put behind it by rule. */
export function withoutBlocks(summary: string): string {
  const at = summary.search(FIRST_BLOCK);
  return (at < 0 ? summary : summary.slice(0, at)).trim();
}

/** The lines of a block, when the summary has it. */
export function blockLines(summary: string, name: BlockName): readonly string[] {
  const start = summary.indexOf(`<${name}>\n`);
  const end = start < 0 ? -1 : summary.indexOf(`\n</${name}>`, start);
  return end < 0
    ? []
    : summary
        .slice(start + name.length + 3, end)
        .split("\n")
        .filter((line) => line.trim() !== "");
}

/** Files that tools worked on, each once, in order of first use. */
export interface TouchedFiles {
  readonly read: readonly string[];
  readonly modified: readonly string[];
}

const MAX_FILES = 200;
const MAX_PATH_CHARS = 400;
const PATCHED = /^\*\*\* (?:Add File|Update File|Delete File|Move to): (.+)$/gm;

function pathOf(args: Readonly<Record<string, unknown>>): string[] {
  const path = args["path"] ?? args["file_path"];
  return typeof path === "string" && path.trim() !== "" && path.length <= MAX_PATH_CHARS ? [path.replaceAll(/\s+/g, " ").trim()] : [];
}

function patched(args: Readonly<Record<string, unknown>>): string[] {
  const patch = args["input"] ?? args["patch"];
  if (typeof patch !== "string") return [];
  return Array.from(patch.matchAll(PATCHED), ([, path = ""]) => path.trim()).filter((path) => path.length <= MAX_PATH_CHARS);
}

/** Adds the files of these messages to what was touched before. A file that was changed is not listed as read. */
export function filesOf(items: readonly PathItem[], before: TouchedFiles = { read: [], modified: [] }): TouchedFiles {
  const read = new Set(before.read);
  const modified = new Set(before.modified);
  for (const { message } of items) {
    if (message?.role !== "assistant") continue;
    for (const part of message.content) {
      if (part.type !== "toolCall") continue;
      if (part.name === "read") for (const path of pathOf(part.arguments)) read.add(path);
      else if (part.name === "write" || part.name === "edit") for (const path of pathOf(part.arguments)) modified.add(path);
      else if (part.name === "apply_patch") for (const path of patched(part.arguments)) modified.add(path);
    }
  }
  return { read: [...read.difference(modified)].slice(-MAX_FILES), modified: [...modified].slice(-MAX_FILES) };
}
