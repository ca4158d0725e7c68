import type { Link } from "../../../link/link.ts";
import { fieldsOf, saidIn, withoutFileLines } from "./said.ts";
import type { Attachment, ChatEntry, Draft } from "./state.ts";
import { t } from "../../../words/words.ts";

type Port = Pick<Link, "has" | "request">;

const ENDINGS: Readonly<Record<string, string>> = { "image/jpeg": "jpg", "image/png": "png", "image/gif": "gif", "image/webp": "webp" };

/** All that an entry says. Rejects when it was cut and the rest cannot be had: nobody takes a part for the whole. */
export async function wholeText(link: Port, sessionKey: string, { seq, content, cut }: ChatEntry): Promise<string> {
  if (!cut) return saidIn(content);
  if (!link.has("chat.entry"))
    throw new Error(t("This message is not shown in full, and this gateway does not send the rest. The exported session has all of it."));
  const parts: string[] = [];
  for (let from: number | undefined = 0; from !== undefined;) {
    const part: { readonly text: string; readonly next?: number } = await link.request("chat.entry", { sessionKey, seq, from });
    parts.push(part.text);
    from = part.next;
  }
  return parts.join("");
}

async function picture(link: Port, sessionKey: string, seq: number, index: number, number: number): Promise<Attachment> {
  const { mimeType, data } = await link.request("chat.image", { sessionKey, seq, index });
  return { type: "image", mimeType, fileName: `picture-${number}.${ENDINGS[mimeType] ?? "img"}`, content: data };
}

async function file(link: Port, sessionKey: string, seq: number, index: number, name: string): Promise<Attachment> {
  const { mimeType, data } = await link.request("chat.file", { sessionKey, seq, index });
  return { type: "file", mimeType, fileName: name, content: data };
}

/** A message as it was sent: all its words, its pictures and its files. */
export async function draftOf(link: Port, sessionKey: string, entry: ChatEntry): Promise<Draft> {
  const { files = [], seq } = entry;
  const indexes = entry.content.flatMap((block, index) => (fieldsOf(block)["type"] === "image" ? [index] : []));
  const [text, ...attachments] = await Promise.all([
    wholeText(link, sessionKey, entry),
    ...indexes.map((index, at) => picture(link, sessionKey, seq, index, at + 1)),
    ...files.map(({ name }, index) => file(link, sessionKey, seq, index, name)),
  ]);
  return { text: files.length === 0 ? text : withoutFileLines(text).words, attachments };
}

const TITLE_CHARS = 60;

/** The first words of a message, as a name for a conversation that begins with it. */
export function firstWords(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  if (line.length <= TITLE_CHARS) return line;
  const cut = line.slice(0, TITLE_CHARS);
  const space = cut.lastIndexOf(" ");
  return `${cut.slice(0, space > TITLE_CHARS / 2 ? space : TITLE_CHARS).trimEnd()}…`;
}
