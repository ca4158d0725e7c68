import type { AssistantMessage, ToolResultMessage } from "../../protocol/index.ts";

const SILENT = /^\s*NO_REPLY(?=$|\W)|\bNO_REPLY\W*$/;

/** A line that wants a file to be sent. */
const MEDIA_LINE = /^[ \t]*MEDIA:[ \t]*\S.*$/gm;

/** True for an answer that begins or ends with the word for silence. */
export function isSilentReply(text: string): boolean {
  return SILENT.test(text);
}

/** What an answer says, without its thoughts and calls. */
export function textOf(message: AssistantMessage): string {
  return message.content
    .flatMap((part) => (part.type === "text" ? [part.text] : []))
    .join("")
    .trim();
}

export interface Reply {
  /** What is shown: the last text. */
  readonly text: string;
  /** What is said. Of a reply that is silent, what names files: those are sent, their words are not. */
  readonly texts: readonly string[];
  readonly silent: boolean;
}

/** What is said at the end of a turn. When the model says nothing after a call that failed, the failure is told in its place. */
export function replyOf(answers: readonly AssistantMessage[], failed: ToolResultMessage | undefined, delivered: boolean): Reply {
  const said = answers.map(textOf).filter((text) => text !== "");
  const last = answers.at(-1);
  const final = last ? textOf(last) : "";
  if (isSilentReply(final)) return { text: "", texts: filesOf(answers), silent: true };
  const texts = said.filter((text) => !isSilentReply(text));
  if (texts.length > 0) return { text: final === "" ? texts.at(-1)! : final, texts, silent: false };
  if (!failed || delivered) return { text: "", texts: [], silent: false };
  const told = failureText(failed);
  return { text: told, texts: [told], silent: false };
}

/** What silence lets through: the lines that name files, and the last answer whole where it has some, for what it says about them. */
function filesOf(answers: readonly AssistantMessage[]): readonly string[] {
  const texts = answers.map(textOf);
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
