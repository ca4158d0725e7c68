import { clip } from "./text.ts";

/** A message of a transcript, as far as its words are concerned. */
export interface WordedMessage {
  readonly role?: unknown;
  readonly content?: unknown;
  /** What the user was shown in place of the model's text, where plugins changed it; empty when they withheld it. */
  readonly openclawShown?: unknown;
}

/** Whether a part of a message is what plugins put there for the model. */
export const isContext = (part: unknown): boolean =>
  typeof part === "object" && part !== null && (part as { readonly openclawContext?: unknown }).openclawContext === true;

/** Everything textual that was said in a message, blocks joined by line breaks. */
export function textOf({ content }: WordedMessage): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .flatMap((block: { type?: unknown; text?: unknown }) => (block?.type === "text" && typeof block.text === "string" && !isContext(block) ? [block.text] : []))
    .join("\n");
}

/** `[Sun 2026-01-05 16:26 UTC] ` or a channel's envelope with a time in it. */
const ENVELOPE = /^\[[^\]\n]{0,200}\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}[^\]\n]{0,80}\] ?/;

/** A user's text without what was put in front of it for the model. */
export function withoutEnvelope(text: string): string {
  return text.replace(ENVELOPE, "");
}

/** Before a message the model is told what happened meanwhile: lines of the system, until the first empty one. */
const TOLD = /^System: \[\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}[^\]\n]*\] /;
const NEXT_TOLD = /\n(?=System: \[\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2})/;

/** A user's text, and the lines of the system that stood before it. */
export function apart(text: string): { readonly told: readonly string[]; readonly said: string } {
  if (!TOLD.test(text)) return { told: [], said: text };
  const end = text.indexOf("\n\n");
  const lines = end === -1 ? text : text.slice(0, end);
  return { told: lines.split(NEXT_TOLD).map((line) => line.slice("System: ".length)), said: end === -1 ? "" : withoutEnvelope(text.slice(end + 2)) };
}

/** Whether an answer without content still has something to report: that it failed, or that it was stopped. */
const hasOutcome = (message: WordedMessage): boolean => "errorMessage" in message || "openclawAbort" in message;

/**
 * A stored message as people may see it: without what plugins added for the model, and with the text that plugins left of an answer in place of the
 * model's own. Undefined when nothing of it was shown. Everything that shows a conversation goes through here.
 */
export function shownMessage<M extends WordedMessage>(stored: M): Omit<M, "openclawShown"> | undefined {
  const { openclawShown, ...message } = stored;
  const { role, content } = message;
  if (typeof openclawShown !== "string") {
    if (role !== "user" || !Array.isArray(content) || !content.some(isContext)) return stored;
    return { ...message, content: content.filter((part) => !isContext(part)) };
  }
  const others = Array.isArray(content) ? (content as readonly { readonly type?: unknown }[]).filter(({ type }) => type !== "text") : [];
  const shown = [...others, ...(openclawShown === "" ? [] : [{ type: "text", text: openclawShown }])];
  return shown.length === 0 && !hasOutcome(stored) ? undefined : { ...message, content: shown };
}

/** What a person wrote or read, for titles and previews. */
export function shownText(stored: WordedMessage): string {
  const message = shownMessage(stored) ?? {};
  const text = textOf(message);
  return (message.role === "user" ? withoutEnvelope(apart(text).said) : text).trim();
}

const TITLE_CHARS = 60;
const PREVIEW_CHARS = 120;
/** No more than this is looked at: what is shown is far shorter. */
const LOOKED_AT = 4000;

const oneLine = (text: string): string => text.slice(0, LOOKED_AT).replaceAll(/\s+/g, " ").trim();

/** How a conversation began, as its title: one line, cut between words. */
export function titleFrom(text: string): string {
  const said = oneLine(text);
  if (said.length <= TITLE_CHARS) return said;
  const space = said.slice(0, TITLE_CHARS).lastIndexOf(" ");
  return clip(said, space > TITLE_CHARS / 2 ? space : TITLE_CHARS);
}

/** What was said last, in one line. */
export const previewFrom = (text: string): string => clip(oneLine(text), PREVIEW_CHARS);
