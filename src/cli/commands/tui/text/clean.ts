/**
 * What others wrote, made harmless for a terminal. Everything that models, tools, peers and the gateway say passes through one of these two before
 * it is laid out; painting looks once more.
 */

/* oxlint-disable no-control-regex -- control characters are what this file is about */

/** Texts for the terminal: titles, links, colours. One that does not end loses only its beginning: the rest is text that should be visible. */
const STRINGS = /(?:\u001b[\]PX^_]|[\u0090\u0098\u009d-\u009f])[^\u0007\u001b\u0080-\u009f]*(?:\u0007|\u001b\\|\u009c)/g;
/** Control sequences with their parameters, and escape sequences. */
const SEQUENCES = /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|\u001b[ -/]*[0-~]/g;

/** Control characters other than tab and line feed. */
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

/** Characters that change the direction of text or are invisible: with them a text can read differently from what it is. */
const INVISIBLE = /[\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e0fff}]/gu;

/** Joiners are part of emoji and of several scripts; shown only where every character counts. */
const JOINERS = /[\u200c\u200d]/g;

/** Text that may be drawn: no control sequences, no control characters but line feeds and tabs, nothing that turns its direction around. */
export function clean(text: string): string {
  if (!/[^\u0020-\u007e\n]/.test(text)) return text;
  return text
    .toWellFormed()
    .replace(/\r\n?|[\u2028\u2029]/g, "\n")
    .replace(STRINGS, "")
    .replace(SEQUENCES, "")
    .replace(CONTROLS, "")
    .replace(INVISIBLE, "");
}

/** The same on one line, for names and titles. */
export function cleanLine(text: string): string {
  return clean(text).replace(/\s+/g, " ").trim();
}

const named = (character: string): string => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;

/** Text of which nothing may be hidden: what could not be seen is written out. For commands that await approval. */
export function reveal(text: string): string {
  return text
    .toWellFormed()
    .replace(/\r\n/g, "\n")
    .replace(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/g, named)
    .replace(INVISIBLE, named)
    .replace(JOINERS, named);
}

/** The same on one line. */
export function revealLine(text: string): string {
  return reveal(text).replaceAll("\n", "\\u{a}");
}

/** The last look before the terminal: nothing but what can be printed. */
export function printable(text: string): string {
  return /[\u0000-\u001f\u007f-\u009f]/.test(text) ? text.replace(/[\u0000-\u001f\u007f-\u009f]/g, "\ufffd") : text;
}
