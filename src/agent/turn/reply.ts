import type { AssistantMessage, ToolResultMessage } from "../../protocol/index.ts";

const SILENT = /^\s*NO_REPLY(?=$|\W)|\bNO_REPLY\W*$/;

/** A line that asks for a file to be sent. */
const MEDIA_LINE = /^[ \t]*MEDIA:[ \t]*\S.*$/gm;

/** Whether an answer begins or ends with the token for silence. */
export function isSilentReply(text: string): boolean {
  return SILENT.test(text);
}

/** The text of an answer, without its thoughts and calls. */
export function textOf(message: AssistantMessage): string {
  let text = "";
  for (const part of message.content) if (part.type === "text") text += part.text;
  return text.trim();
}

export interface Reply {
  /** What is shown: the last text. */
  readonly text: string;
  /** One for each answer. Of a reply that is silent, what names files: those are sent, the text is not. */
  readonly texts: readonly string[];
  readonly silent: boolean;
}

/** What is sent at the end of a turn. When the model writes nothing after a call that failed, the failure is shown in its place. */
export function replyOf(answers: readonly AssistantMessage[], failed: ToolResultMessage | undefined, delivered: boolean): Reply {
  const all = answers.map(textOf);
  const final = all.at(-1) ?? "";
  if (isSilentReply(final)) return { text: "", texts: filesOf(all), silent: true };
  const texts = all.filter((text) => text !== "" && !isSilentReply(text));
  const last = texts.at(-1);
  if (last !== undefined) return { text: final === "" ? last : final, texts, silent: false };
  if (!failed || delivered) return { text: "", texts: [], silent: false };
  const failure = failureText(failed);
  return { text: failure, texts: [failure], silent: false };
}

/** What silence lets through: the lines that name files, and the last answer whole where it has some, for what it says about them. */
function filesOf(texts: readonly string[]): readonly string[] {
  return texts.flatMap((text, index) => {
    const lines = text.match(MEDIA_LINE) ?? [];
    if (lines.length === 0) return [];
    return [index === texts.length - 1 ? text : lines.join("\n")];
  });
}

const MAX_FAILURE_CHARS = 300;

function failureText({ toolName, content }: ToolResultMessage): string {
  const text = content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join(" ");
  const line = text.split("\n").find((one) => one.trim() !== "") ?? "it gave no reason";
  return `⚠️ ${toolName} failed: ${line.trim().slice(0, MAX_FAILURE_CHARS)}`;
}
