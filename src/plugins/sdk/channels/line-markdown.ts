/** Markdown for LINE, which shows none: tables and code become cards, the rest plain text. */
import { stripMarkdown } from "../text.ts";
import { createListCard, createReceiptCard, type FlexBubble } from "./line-cards.ts";

export interface FlexMessage {
  type: "flex";
  altText: string;
  contents: FlexBubble;
}

export interface ProcessedLineMessage {
  text: string;
  flexMessages: FlexMessage[];
}

export interface LineChannelData {
  quickReplies?: string[] | undefined;
  location?: { title: string; address: string; latitude: number; longitude: number } | undefined;
  flexMessage?: { altText: string; contents: unknown } | undefined;
  templateMessage?: { type: "confirm" | "buttons" | "carousel"; [key: string]: unknown } | undefined;
}

const TABLE = /^\|(.+)\|[ \t]*\n\|[ \t:|-]+\|[ \t]*\n((?:\|.+\|[ \t]*(?:\n|$))+)/gm;
const CODE = /```(\w*)\n([\s\S]*?)```/g;
const LINK = /\[([^\]]+)\]\(([^)\s]+)\)/g;
const MARKS = [/\*\*.+?\*\*/, /__.+?__/, /~~.+?~~/, /`[^`]+`/, /^#{1,6}\s/m, /^>\s/m, /(?<!\*)\*[^*\n]+\*(?!\*)/];
const MOST_CODE = 2000;

const found = (pattern: RegExp, text: string) => new RegExp(pattern.source, pattern.flags.replace("g", "")).test(text);

/** Whether LINE would show signs instead of what they mean. */
export function hasMarkdownToConvert(text: string): boolean {
  return [TABLE, CODE, LINK, ...MARKS].some((pattern) => found(pattern, text));
}

const cells = (line: string) =>
  line
    .trim()
    .replaceAll(/^\||\|$/g, "")
    .split("|")
    .map((cell) => stripMarkdown(cell.trim()) || "-");

function tableCard(head: string, body: string): FlexBubble {
  const headers = cells(head);
  const rows = body.trim().split("\n").map(cells);
  if (headers.length === 2) return createReceiptCard({ title: headers.join(" / "), items: rows.map(([name = "-", value = "-"]) => ({ name, value })) });
  const items = rows.map((row) => ({
    title: row[0] ?? "-",
    subtitle: row
      .slice(1)
      .map((cell, index) => `${headers[index + 1] ?? ""}: ${cell}`)
      .join(" | "),
  }));
  return createListCard(headers[0] ?? "Table", items);
}

function codeCard(language: string, code: string): FlexBubble {
  const text = code.trimEnd();
  const shown = text.length > MOST_CODE ? `${text.slice(0, MOST_CODE)}…` : text;
  const contents = [
    { type: "text" as const, text: language ? `Code (${language})` : "Code", weight: "bold", size: "sm" },
    { type: "text" as const, text: shown || "-", size: "xs", wrap: true, margin: "md" },
  ];
  return { type: "bubble", body: { type: "box", layout: "vertical", contents } };
}

/** A reply for LINE: its text without Markdown, and a card for every table and code block. */
export function processLineMessage(text: string): ProcessedLineMessage {
  const flexMessages: FlexMessage[] = [];
  const card = (altText: string, contents: FlexBubble) => {
    flexMessages.push({ type: "flex", altText, contents });
    return "";
  };
  const plain = text
    .replaceAll(TABLE, (_all, head: string, body: string) => card("Table", tableCard(head, body)))
    .replaceAll(CODE, (_all, language: string, code: string) => card("Code", codeCard(language, code)))
    .replaceAll(LINK, "$1 ($2)");
  return { text: stripMarkdown(plain), flexMessages };
}
