/** Where an answer that is being written may be cut. */
import { findFences, wholeCharacter, type Fence } from "../../../channels/index.ts";
import type { BreakPreference, ChunkSettings } from "./settings.ts";

/** A block of code that goes on behind a cut. */
export interface OpenFence {
  readonly line: string;
  readonly marker: string;
}

export interface BlockCut {
  /** Where the block ends. */
  readonly end: number;
  /** Where the next one begins. */
  readonly next: number;
  readonly open: OpenFence | undefined;
}

/** Whether code can be cut: the lines that close and open it again have to leave room for it. Longer ones are treated as words. */
const canCut = ({ line, marker }: OpenFence, maxChars: number): boolean => (line.length + marker.length + 2) * 2 <= maxChars;

const BLANK = /\s*/y;

/** Behind white space; the indentation of a line is its own. */
export function skipBlank(text: string, from: number): number {
  BLANK.lastIndex = from;
  const blank = BLANK.exec(text)?.[0] ?? "";
  const line = blank.lastIndexOf("\n");
  if (from + blank.length === text.length) return text.length;
  return from + (line < 0 ? blank.length : line + 1);
}

const ORDER: Readonly<Record<BreakPreference, readonly string[]>> = {
  paragraph: ["paragraph", "newline", "sentence", "blank"],
  newline: ["newline", "sentence", "blank"],
  sentence: ["sentence", "newline", "blank"],
};

/** The end of a kind of place. */
const PLACES: Readonly<Record<string, RegExp>> = {
  paragraph: /\n[ \t]*\r?\n/g,
  newline: /\n/g,
  sentence: /[.!?]["'”’)\]]?(?=\s)|[。！？]/g,
  blank: /\s/g,
};

/** The last place of a kind from `least` to `most` that is not inside of code. */
function lastPlace(kind: string, text: string, least: number, most: number, safe: (index: number) => boolean): number | undefined {
  let found: number | undefined;
  for (const match of text.matchAll(PLACES[kind]!)) {
    const end = kind === "sentence" ? match.index + match[0].length : match.index;
    if (end > most) break;
    if (end >= least && end > 0 && safe(end)) found = end;
  }
  return found;
}

/** The part of a text that a cut may look at. Offsets of fences are those of the window. */
interface Window {
  readonly text: string;
  readonly from: number;
  /** Length of the line that opens code again, in front of the window. */
  readonly head: number;
  readonly fences: readonly Fence[];
}

const MARKED = /^ {0,3}(?:`{3,}|~{3,})/;

/** Inside of a line that looks as if it began code: whatever it is now, the half of it before a cut would be read as such. */
function splitsMarker(text: string, index: number): boolean {
  return index < text.length && text[index] !== "\n" && MARKED.test(text.slice(text.lastIndexOf("\n", index - 1) + 1, index));
}

const isOpen = (fence: Fence): boolean => fence.closing === fence.end;
const contains = (fence: Fence, index: number): boolean => fence.start < index && (isOpen(fence) || index < fence.end);

const safeIn =
  ({ text, fences }: Window): ((index: number) => boolean) =>
  (index) =>
    !fences.some((fence) => contains(fence, index)) && !splitsMarker(text, index);

/** Cuts inside of code, which is closed for it. */
function cutCode({ text, from, head }: Window, fence: Fence, maxChars: number): BlockCut {
  const body = Math.max(fence.body, head);
  const limit = Math.max(maxChars - fence.marker.length - 1, body + 1);
  const line = text.lastIndexOf("\n", limit);
  const end = line > body ? line : Math.max(wholeCharacter(text, limit), body + 1);
  const next = line > body ? line + 1 : end;
  if (!isOpen(fence) && next >= fence.closing) return { end: from + end - head, next: from + fence.end - head, open: undefined };
  return { end: from + end - head, next: from + next - head, open: { line: fence.line, marker: fence.marker } };
}

/** Cuts because no more fits. */
function cutForced(window: Window, text: string, { minChars, maxChars, breakPreference }: ChunkSettings): BlockCut {
  const { from, head, fences } = window;
  const safe = safeIn(window);
  for (const kind of ORDER[breakPreference]) {
    const place = lastPlace(kind, window.text, minChars, maxChars, safe);
    if (place !== undefined && place > head) return { end: from + place - head, next: skipBlank(text, from + place - head), open: undefined };
  }
  const fence = fences.find((one) => contains(one, maxChars));
  if (!fence) {
    const hard = from + Math.max(wholeCharacter(window.text, maxChars), head + 1) - head;
    return { end: hard, next: skipBlank(text, hard), open: undefined };
  }
  const before = fence.start > head && window.text.slice(head, fence.start).trim() !== "";
  if (before) return { end: from + fence.start - head, next: from + fence.start - head, open: undefined };
  return cutCode(window, fence, maxChars);
}

/** The next block of `text` from `start`, which may lie in `open` code. Undefined: it is not long enough yet. `ended`: nothing more will come. */
export function nextCut(text: string, start: number, open: OpenFence | undefined, settings: ChunkSettings, ended: boolean): BlockCut | undefined {
  const left = text.length - start;
  if (left === 0 || (!ended && left < settings.minChars)) return undefined;
  const { maxChars } = settings;
  const head = open ? `${open.line}\n` : "";
  const shown = head + text.slice(start, start + maxChars + 1);
  const fences = findFences(shown).filter((fence) => canCut(fence, maxChars));
  const window: Window = { text: shown, from: start, head: head.length, fences };
  const last = fences.at(-1);
  const tail = last && isOpen(last) ? last.marker.length + 1 : 0;
  if (head.length + left + tail > maxChars && (ended || head.length + left > maxChars)) return cutForced(window, text, settings);
  if (ended) return { end: text.length, next: text.length, open: undefined };
  const place = lastPlace(ORDER[settings.breakPreference][0]!, shown, settings.minChars, maxChars, safeIn(window));
  if (place === undefined || place <= head.length) return undefined;
  return { end: start + place - head.length, next: skipBlank(text, start + place - head.length), open: undefined };
}

const CLOSING = /^ {0,3}(`{3,}|~{3,})[ \t]*(?:\r?\n|$)/;

/** A block as it is sent: code that it cuts is opened before it and closed behind it. */
export function renderBlock(raw: string, open: OpenFence | undefined, maxChars: number): string {
  const closing = open && CLOSING.exec(raw);
  const ends = closing?.[1]!.startsWith(open!.marker.trimStart()) ? closing[0].length : 0;
  const rest = raw.slice(ends);
  const line = ends === 0 ? open?.line : undefined;
  const text = (line === undefined ? rest.slice(skipBlank(rest, 0)) : `${line}\n${rest}`).trimEnd();
  if (text === "" || text === line) return "";
  const last = findFences(text).at(-1);
  return last && isOpen(last) && canCut(last, maxChars) ? `${text}\n${last.marker}` : text;
}
