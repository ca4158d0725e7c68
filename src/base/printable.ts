/**
 * Rules for names and keys chosen by others: every character is visible, on one line, in reading order.
 * Entry points refuse keys (`isPrintable`) and clean names (`printableName`); terminals show the rest as escapes (`escapeControls`).
 */

/* oxlint-disable no-control-regex -- control characters are what this file is about */

/** Terminal sequences: strings (titles, links), control sequences with their parameters, and other escapes. */
const SEQUENCES =
  /(?:\u001b[\]PX^_]|[\u0090\u0098\u009d-\u009f])[^\u0007\u001b\u0080-\u009f]*(?:\u0007|\u001b\\|\u009c)|(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|\u001b[ -/]*[0-~]/g;

/**
 * Control characters, line ends, lone surrogates, and invisible or direction-changing characters. Joiners are allowed: emoji and several scripts need
 * them.
 */
const HIDDEN = /[\p{Cc}\p{Cs}\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e0fff}]/u;
const ALL_HIDDEN = new RegExp(HIDDEN.source, "gu");
const MAYBE_HIDDEN = /[^\u0020-\u007e]/;

/** True when every character of a text is visible and on one line. */
export const isPrintable = (text: string): boolean => !MAYBE_HIDDEN.test(text) || !HIDDEN.test(text);

/** A name that can be stored and shown: one line, without terminal sequences and invisible characters. May be empty. */
export function printableName(text: string): string {
  if (!MAYBE_HIDDEN.test(text)) return text.trim();
  return text
    .replace(SEQUENCES, "")
    .replace(/[\s\u0085]+/g, " ")
    .replace(ALL_HIDDEN, "")
    .replace(/ {2,}/g, " ")
    .trim();
}

/** Control characters other than tab and line feed, lone surrogates, other line ends, and characters that change the text direction. */
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069\p{Cs}]/gu;
const MAYBE_CONTROL = /[^\u0020-\u007e\n\t]/;

const hex = (unit: number): string => `\\u${unit.toString(16).padStart(4, "0")}`;
/** Escaped so that escaped JSON stays the same JSON. */
const escaped = (char: string): string => Array.from({ length: char.length }, (_, at) => hex(char.charCodeAt(at))).join("");

/** Text for a terminal: characters that would act there instead of being shown are written as escapes. Line feeds and tabs stay. */
export function escapeControls(text: string): string {
  return MAYBE_CONTROL.test(text) ? text.replaceAll("\r\n", "\n").replace(CONTROLS, escaped) : text;
}

/** The same for a name or a table cell, where everything must be visible and nothing may start another line. */
export function escapeLine(text: string): string {
  return MAYBE_HIDDEN.test(text) ? text.replace(ALL_HIDDEN, escaped) : text;
}

/** The same for a text of several lines that is shown as one. */
export function escapeJoined(text: string): string {
  return escapeLine(text.trim().replace(/\s*\n\s*/g, " "));
}
