import { blocksOf, fieldsOf, saidIn } from "../model/said.ts";

// oxlint-disable-next-line no-control-regex
const TERMINAL = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\))/g;

/** Text without what only a terminal understands: colours, titles, movements. */
const plain = (text: string): string => (text.includes("\u001b") ? text.replaceAll(TERMINAL, "") : text);

/** What a tool gave, as text. */
export function outputOf(result: unknown): string {
  if (result === undefined || result === null) return "";
  if (typeof result === "string") return plain(result);
  const content = Array.isArray(result) ? result : fieldsOf(result)["content"];
  const text = plain(saidIn(content));
  if (text !== "" || content !== undefined) return text;
  return JSON.stringify(result, undefined, 2);
}

/** Arguments as they are shown: text as it is, everything else as JSON. */
export function argumentsText(args: unknown): string {
  if (args === undefined) return "";
  return typeof args === "string" ? args : JSON.stringify(args, undefined, 2);
}

/** The end of a text: so many lines and characters at most, and whether something stands before it. */
export function tailOf(text: string, lines: number, chars: number): { readonly text: string; readonly cut: boolean } {
  const near = text.length > chars ? text.slice(-chars) : text;
  const all = near.replace(/\n+$/, "").split("\n");
  const last = all.slice(-lines).join("\n");
  return { text: last, cut: near.length < text.length || all.length > lines };
}

/** Which blocks of a result are pictures. */
export function pictureIndexes(content: unknown): readonly number[] {
  if (blocksOf(content, "image").length === 0 || !Array.isArray(content)) return [];
  return content.flatMap((block, index) => (fieldsOf(block)["type"] === "image" ? [index] : []));
}
