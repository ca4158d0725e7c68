import { clip } from "./text.ts";
import { storedFiles, withoutEnvelope, type StoredFile } from "./user-text.ts";

/** The text-related fields of a transcript message. */
export interface MessageText {
  readonly role?: unknown;
  readonly content?: unknown;
  /** The text that the user saw instead of the model's, where plugins changed it; empty when they withheld it. */
  readonly openclawShown?: unknown;
  /** A user's text of which nothing is left out when it is shown. */
  readonly openclawVerbatim?: unknown;
}

/** Whether plugins added this part of a message for the model. */
export const isContext = (part: unknown): boolean => typeof part === "object" && part !== null && "openclawContext" in part && part.openclawContext === true;

/** All text of a message, blocks joined by line breaks. */
export function textOf({ content }: MessageText): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .flatMap((block: { type?: unknown; text?: unknown }) => (block?.type === "text" && typeof block.text === "string" && !isContext(block) ? [block.text] : []))
    .join("\n");
}

/** Lines about system events come before the user's text, up to the first empty line. */
const SYSTEM_LINE = /^System: \[\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}[^\]\n]*\] /;
const NEXT_SYSTEM_LINE = /\n(?=System: \[\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2})/;

/** Splits a message into the user's text and the system event lines in front of it. */
export function splitSystemLines(text: string): { readonly systemLines: readonly string[]; readonly text: string } {
  if (!SYSTEM_LINE.test(text)) return { systemLines: [], text: text };
  const end = text.indexOf("\n\n");
  const lines = end === -1 ? text : text.slice(0, end);
  return {
    // What follows the first line of one is indented.
    systemLines: lines.split(NEXT_SYSTEM_LINE).map((line) => line.slice("System: ".length).replaceAll("\n  ", "\n")),
    text: end === -1 ? "" : text.slice(end + 2),
  };
}

/** A user's text, without system event lines, as people see it. */
export const ownText = (text: string, { openclawVerbatim }: MessageText): string => (openclawVerbatim === true ? text : withoutEnvelope(text));

/** The stored files that came with a user's message. A text that only looks like one of ours names none. */
export function filesOf(message: MessageText): readonly StoredFile[] {
  return message.role === "user" && message.openclawVerbatim !== true ? storedFiles(textOf(message)) : [];
}

/** A user's text as pages show it: lines about system events, then their own words. */
export function withoutPrompt(text: string, message: MessageText): string {
  const end = SYSTEM_LINE.test(text) ? text.indexOf("\n\n") : -2;
  return end === -1 ? text : text.slice(0, end + 2) + ownText(text.slice(end + 2), message);
}

/** Whether an answer without content still has something to report: it failed, or it was stopped. */
const hasOutcome = (message: MessageText): boolean => "errorMessage" in message || "openclawAbort" in message;

/**
 * A stored message as people may see it: without the context that plugins added for the model, and with the text that plugins left of an answer
 * instead of the model's own. Undefined when nothing of it was shown. Everything that shows a conversation uses this.
 */
export function shownMessage<M extends MessageText>(stored: M): Omit<M, "openclawShown"> | undefined {
  const { openclawShown, ...message } = stored;
  const { role, content } = message;
  if (typeof openclawShown !== "string") {
    if (role !== "user" || !Array.isArray(content) || !content.some(isContext)) return stored;
    return { ...message, content: content.filter((part) => !isContext(part)) };
  }
  const blocks: readonly { readonly type?: unknown }[] = Array.isArray(content) ? content : [];
  const others = blocks.filter(({ type }) => type !== "text");
  const shown = [...others, ...(openclawShown === "" ? [] : [{ type: "text", text: openclawShown }])];
  return shown.length === 0 && !hasOutcome(stored) ? undefined : { ...message, content: shown };
}

/** The text that a person wrote or read, for titles and previews. */
export function shownText(stored: MessageText): string {
  const message = shownMessage(stored) ?? {};
  const text = textOf(message);
  return (message.role === "user" ? ownText(splitSystemLines(text).text, message) : text).trim();
}

const TITLE_CHARS = 60;
const PREVIEW_CHARS = 120;
/** Only this much is inspected: what is shown is far shorter. */
const LOOKED_AT = 4000;

const oneLine = (text: string): string => text.slice(0, LOOKED_AT).replaceAll(/\s+/g, " ").trim();

/** Names of files that came with a message, and what became of them. */
const FILE_LINES = /^(?:📎 .+|\[media: .+\])$/gmu;

/** The first message as the conversation's title: one line, cut between words. Files that came with it name it only where nothing was said. */
export function titleFrom(text: string): string {
  const said = oneLine(text.slice(0, LOOKED_AT).replaceAll(FILE_LINES, "")) || oneLine(text);
  if (said.length <= TITLE_CHARS) return said;
  const space = said.slice(0, TITLE_CHARS).lastIndexOf(" ");
  return clip(said, space > TITLE_CHARS / 2 ? space : TITLE_CHARS);
}

/** The last message, in one line. */
export const previewFrom = (text: string): string => clip(oneLine(text), PREVIEW_CHARS);
