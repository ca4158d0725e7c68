/** What an answer contains besides its text: tags in double brackets and `MEDIA:` lines. They are read and removed while the answer is written. */
import { basename, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";

const MAX_TARGET_CHARS = 4096;
const WRAPPED = /^(["'`])(.*)\1$/s;
const LEADING = /^[`"'[({<]+/;
const LOCAL = /^(?:\/|~|\.{1,2}(?:[/\\]|$)|\\\\|file:|[A-Za-z]:[/\\])/;

/** What one line gave. */
interface MediaLine {
  readonly media: readonly string[];
  /** Paths outside of the folders that files may be sent from. */
  readonly refused?: readonly string[];
  /** What stays in the text; undefined takes the whole line away. */
  readonly rest: string | undefined;
}

const trailingFrom = (word: string): number => {
  let end = word.length;
  while (end > 0 && "`\"'])}>,;".includes(word.charAt(end - 1))) end -= 1;
  return end;
};

const unwrapped = (word: string): string => word.slice(0, trailingFrom(word)).replace(LEADING, "");

/** The path below one of the folders that a local path names; relative ones begin at the first folder. */
function localPath(path: string, roots: readonly string[]): string | undefined {
  const [first] = roots;
  if (first === undefined || path.includes("\0") || path.startsWith("~")) return undefined;
  const full = resolve(first, path);
  return roots.some((root) => full.startsWith(root.endsWith(sep) ? root : root + sep) && full.length > root.length + 1) ? full : undefined;
}

function fileOf(url: string): string | undefined {
  try {
    return fileURLToPath(url);
  } catch {
    return undefined;
  }
}

/** The address or path that is sent, if it may be. */
function sendable(target: string, roots: readonly string[]): string | undefined {
  if (target === "" || target.length > MAX_TARGET_CHARS) return undefined;
  if (/^https?:\/\//i.test(target)) return !/\s/.test(target) && URL.canParse(target) ? target : undefined;
  if (!LOCAL.test(target)) return undefined;
  const path = /^file:/i.test(target) ? fileOf(target) : target;
  return path === undefined ? undefined : localPath(path, roots);
}

/** As for a file that the channel cannot send. */
const refusedNote = (path: string): string => `[not sent: ${basename(path).slice(0, 200)} is not in a folder that files may be sent from]`;

/** What follows `MEDIA:` on its line. `roots` are absolute. */
function parseMediaLine(line: string, roots: readonly string[]): MediaLine {
  const said = line.slice(line.indexOf(":") + 1).trim();
  const whole = WRAPPED.exec(said)?.[2]?.trim();
  const words = whole === undefined ? said.split(/\s+/) : [whole];
  const media: string[] = [];
  const others: string[] = [];
  for (const word of words) {
    const target = sendable(unwrapped(word), roots);
    if (target === undefined) others.push(word);
    else media.push(target);
  }
  if (media.length > 0 && others.length === 0) return { media, rest: undefined };
  // A path with blanks in it looks like several words.
  const spaced = LOCAL.test(unwrapped(said)) ? sendable(unwrapped(said), roots) : undefined;
  if (spaced !== undefined && words.slice(1).every((word) => !LOCAL.test(word) && !/^https?:/i.test(word))) return { media: [spaced], rest: undefined };
  const isLocal = (word: string): boolean => LOCAL.test(unwrapped(word));
  if (media.length === 0 && !isLocal(said)) return { media, rest: line };
  const refused = roots.length === 0 ? [] : (media.length > 0 ? others.filter(isLocal) : [said]).map(unwrapped);
  const kept = media.length > 0 ? others.filter((word) => !isLocal(word)) : [];
  return { media, refused, rest: [kept.join(" "), ...refused.map(refusedNote)].filter(Boolean).join("\n") || undefined };
}

/** What was found so far. */
export interface Directives {
  readonly media: readonly string[];
  /** Paths that may not be sent; the text has a note for each. */
  readonly refused: readonly string[];
  /** The id of the last tag that named one. */
  readonly replyToId?: string | undefined;
  readonly replyToCurrent: boolean;
  readonly audioAsVoice: boolean;
  /** To be spoken instead of the text. */
  readonly spokenText?: string | undefined;
  /** What stood in each `[[tts]]`; undefined: there was none. */
  readonly tts?: readonly string[] | undefined;
}

/** Takes an answer piece by piece. What may still become a directive is held back until it is one or not. */
interface DirectiveScanner {
  /** The words that are certain now, in order. */
  push(delta: string): string;
  /** What was held back; the answer is complete. */
  end(): string;
  found(): Directives;
}

const MAX_TAG = 200;
const MAX_LINE = 4096;
/** Files of one answer; further ones stay text. */
const MAX_MEDIA = 50;
const MEDIA = "MEDIA:";
const FENCE = /^ {0,3}(`{3,}|~{3,})([^\n]*)$/;
const COULD_BE_FENCE = /^ {0,3}(?:`{0,2}$|~{0,2}$|`{3}|~{3})/;

const MEDIA_LINE = /^\s*MEDIA:/;

/** Whether a line that has begun like this may become one that is read as a whole. */
function undecided(head: string, fenced: boolean): boolean {
  if (head.length > MAX_LINE) return false;
  const begun = head.trimStart();
  return COULD_BE_FENCE.test(head) || (!fenced && (MEDIA.startsWith(begun) || begun.startsWith(MEDIA)));
}

interface Scan {
  held: string;
  /** The next characters are the first of their line. */
  lineStart: boolean;
  /** Nothing of this line was given out. */
  lineEmpty: boolean;
  /** The last character that was given out is white space, or there is none. */
  blank: boolean;
  /** A tag was just taken out. */
  afterTag: boolean;
  fence: string | undefined;
  /** Backticks that opened code in this line; 0: none did. */
  ticks: number;
  /** Open `[[tts:text]]`: its words are spoken, not written. */
  spoken: string[] | undefined;
  out: string[];
  /** Absolute, once a line names a file. */
  roots?: readonly string[];
}

interface Found {
  media: string[];
  refused: string[];
  replyToId: string | undefined;
  replyToCurrent: boolean;
  audioAsVoice: boolean;
  spokenText: string | undefined;
  tts: string[] | undefined;
}

/** Gives out text; white space around a tag that was taken out goes with it. */
function give(scan: Scan, text: string): void {
  let rest = text;
  if (scan.spoken) return void scan.spoken.push(rest);
  if (scan.afterTag) {
    if (scan.blank) rest = rest.replace(/^[ \t]+/, "");
    if (rest === "") return;
    scan.afterTag = false;
    if (scan.lineEmpty && /^\r?\n/.test(rest)) rest = rest.slice(rest.indexOf("\n") + 1);
  }
  if (rest === "") return;
  scan.out.push(rest);
  scan.blank = /\s$/.test(rest);
  const line = rest.lastIndexOf("\n");
  scan.lineEmpty = line === rest.length - 1 || (line < 0 && scan.lineEmpty && rest.trim() === "");
}

function takeTag(scan: Scan, found: Found, inner: string): boolean {
  const said = inner.trim();
  const colon = said.indexOf(":");
  const name = (colon < 0 ? said : said.slice(0, colon)).trimEnd().toLowerCase();
  const value = colon < 0 ? "" : said.slice(colon + 1).trim();
  if (name === "reply_to" && value !== "") found.replyToId = value;
  else if (name === "reply_to_current" && colon < 0) found.replyToCurrent = true;
  else if (name === "audio_as_voice" && colon < 0) found.audioAsVoice = true;
  else if (name === "tts" && value.toLowerCase() === "text") scan.spoken ??= [];
  else if (name === "/tts" && scan.spoken) {
    found.spokenText = [found.spokenText, scan.spoken.join("").trim()].filter((part) => part).join("\n") || undefined;
    scan.spoken = undefined;
  } else if (name === "tts") (found.tts ??= []).push(value);
  else if (name !== "/tts") return false;
  if (!scan.spoken) scan.afterTag = true;
  return true;
}

/** A line that is read as a whole. */
function takeLine(scan: Scan, found: Found, line: string, ending: string, roots: readonly string[]): void {
  const [, marker = "", info = ""] = FENCE.exec(line.replace(/\r$/, "")) ?? [];
  if (scan.fence !== undefined) {
    if (line.length <= MAX_LINE && marker.startsWith(scan.fence) && info.trim() === "") scan.fence = undefined;
    return give(scan, line + ending);
  }
  if (MEDIA_LINE.test(line) && found.media.length + found.refused.length < MAX_MEDIA) {
    const { media, refused = [], rest } = parseMediaLine(line, (scan.roots ??= roots.map((root) => resolve(root))));
    found.media.push(...media);
    found.refused.push(...refused);
    if (rest !== undefined) give(scan, rest + ending);
    return;
  }
  if (marker && !(marker.startsWith("`") && info.includes("`"))) scan.fence = marker;
  give(scan, line + ending);
}

function bracketsAt(text: string, from: number): number {
  let end = from;
  while (text[end] === "[") end += 1;
  return end - from;
}

/** How many backticks of a text have opened code that is not closed in it. */
function openTicks(before: number, text: string): number {
  let open = before;
  for (const [run] of text.matchAll(/`+/g)) open = open === 0 ? run.length : run.length === open ? 0 : open;
  return open;
}

/** What may still become a tag or a longer row of backticks. */
const UNFINISHED = /(?:\[|`+)$/;

/** The rest of a line, or as much of it as is there: tags are taken out. Gives where it went on to. */
function takeWords(scan: Scan, found: Found, text: string, from: number, ended: boolean): number {
  const newline = text.indexOf("\n", from);
  const stop = newline < 0 ? text.length : newline;
  let at = from;
  while (at < stop) {
    const open = text.slice(at, stop).indexOf("[[");
    if (open < 0) {
      const most = !ended && newline < 0 ? at + text.slice(at, stop).replace(UNFINISHED, "").length : stop;
      scan.ticks = openTicks(scan.ticks, text.slice(at, most));
      give(scan, text.slice(at, most));
      return most === stop ? lineEnd(scan, newline, stop) : most;
    }
    scan.ticks = openTicks(scan.ticks, text.slice(at, at + open));
    give(scan, text.slice(at, at + open));
    at += open;
    // In code only if something closes it: until that is there, or the line has ended, nobody knows.
    const isCode = scan.ticks > 0 && [...text.slice(at, Math.min(stop, at + MAX_LINE)).matchAll(/`+/g)].some(([run]) => run.length === scan.ticks);
    if (scan.ticks > 0 && !isCode && !ended && newline < 0 && stop - at < MAX_LINE) return at;
    const inner = text.slice(at + 2, Math.min(stop, at + 2 + MAX_TAG));
    const close = inner.indexOf("]]");
    if (close >= 0 && !isCode && takeTag(scan, found, inner.slice(0, close))) at += close + 4;
    else if (close < 0 && !isCode && !ended && newline < 0 && inner.length < MAX_TAG) return at;
    else {
      // The last two brackets of a row may still open one.
      const row = bracketsAt(text, at);
      const passed = row > 2 ? row - 2 : 2;
      give(scan, text.slice(at, at + passed));
      at += passed;
    }
  }
  return lineEnd(scan, newline, stop);
}

function lineEnd(scan: Scan, newline: number, stop: number): number {
  if (newline < 0) return stop;
  give(scan, "\n");
  scan.lineStart = true;
  scan.ticks = 0;
  return stop + 1;
}

function step(scan: Scan, found: Found, text: string, at: number, ended: boolean, roots: readonly string[]): number {
  const newline = text.indexOf("\n", at);
  if (!scan.lineStart && scan.fence !== undefined) {
    scan.lineStart = newline >= 0;
    const next = newline < 0 ? text.length : newline + 1;
    give(scan, text.slice(at, next));
    return next;
  }
  if (!scan.lineStart) return takeWords(scan, found, text, at, ended);
  if (newline === at) {
    give(scan, "\n");
    return at + 1;
  }
  const line = text.slice(at, newline < 0 ? text.length : newline);
  if (newline < 0 && !ended && undecided(line, scan.fence !== undefined)) return at;
  const whole = line.length <= MAX_LINE && (FENCE.test(line.replace(/\r$/, "")) || (MEDIA_LINE.test(line) && !scan.spoken));
  if (scan.fence !== undefined || whole) {
    takeLine(scan, found, line, newline < 0 ? "" : "\n", roots);
    scan.lineStart = newline >= 0;
    return newline < 0 ? text.length : newline + 1;
  }
  scan.lineStart = false;
  return takeWords(scan, found, text, at, ended);
}

/** `localRoots`: folders that files may be sent from; relative paths begin at the first. Without any, only addresses are taken. */
export function createDirectiveScanner(localRoots: readonly string[] = []): DirectiveScanner {
  const scan: Scan = { held: "", lineStart: true, lineEmpty: true, blank: true, afterTag: false, fence: undefined, ticks: 0, spoken: undefined, out: [] };
  const found: Found = { media: [], refused: [], replyToId: undefined, replyToCurrent: false, audioAsVoice: false, spokenText: undefined, tts: undefined };
  let begun = false;

  function push(delta: string, ended = false): string {
    // Whatever stands before the first word is no part of the answer.
    const fresh = begun ? delta : delta.trimStart();
    begun ||= fresh !== "";
    const text = scan.held + fresh;
    let at = 0;
    while (at < text.length) {
      const next = step(scan, found, text, at, ended, localRoots);
      if (next === at) break;
      at = next;
    }
    scan.held = text.slice(at);
    return scan.out.splice(0).join("");
  }

  return {
    push,
    end() {
      const words = push("", true);
      // Nothing closed it: the words were meant to be read after all.
      const unspoken = scan.spoken?.join("") ?? "";
      scan.spoken = undefined;
      return words + unspoken;
    },
    found: () => found,
  };
}
