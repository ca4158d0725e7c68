import { escapeControls } from "../../base/printable.ts";

/** The styles that our own output has (`createStyle`, the console log): colours, bold, dim and the end of them. Nothing that moves, hides or blinks. */
// eslint-disable-next-line no-control-regex -- styles are control sequences
const STYLE = /(\x1b\[(?:0|1|2|3[0-7]|9[0-7])m)/;

/**
 * What a terminal is sent for a text of a command: the one place that everything printed goes through. Styles of ours stay where there are colours, everything
 * else that would act on a terminal is written as an escape.
 */
export function terminalText(text: string, color: boolean): string {
  if (!text.includes("\x1b") || !color) return escapeControls(text);
  return text
    .split(STYLE)
    .map((part, index) => (index % 2 === 1 ? part : escapeControls(part)))
    .join("");
}

/** Begins the current line of a terminal again, with nothing on it. */
export const redrawn = (text: string, color: boolean): string => `\r\x1b[K${terminalText(text, color)}`;
