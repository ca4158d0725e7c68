import { nothing, svg, type SVGTemplateResult } from "lit";
import { duration } from "../../base/figures.ts";
import type { TraceRow } from "./story-rows.ts";
import { xOf, type TimeView } from "./time-axis.ts";
import { t } from "../../words/words.ts";

/** Where things are on a waterfall of some width. */
export interface Frame {
  readonly width: number;
  /** Of the column with names; 0 where they stand above their bars. */
  readonly names: number;
  readonly rowHeight: number;
  readonly axis: number;
  readonly view: TimeView;
}

const NARROW = 620;
const NAMES = 224;
/** Of the column with times, within that of names. */
const TIMES = 62;
export const EDGE = 10;
const BAR = 13;
const LEAST = 2.5;
/** Of a letter, on average. */
const LETTER = 6.3;

export function frameOf(width: number, view: TimeView): Frame {
  const narrow = width < NARROW;
  return { width, names: narrow ? EDGE : NAMES, rowHeight: narrow ? 40 : 27, axis: 26, view };
}

export const timeWidth = ({ width, names }: Frame): number => Math.max(40, width - names - EDGE);

/** So much of a text as fits. */
export function cut(text: string, width: number): string {
  const most = Math.floor(width / LETTER);
  return text.length <= most ? text : most < 2 ? "" : `${text.slice(0, most - 1).toWellFormed()}…`;
}

/** Position of the text beside a bar: after it, before it where that has more space, and never over the edge. */
export function noteAt(x1: number, x2: number, width: number, text: string): { readonly x: number; readonly anchor: "start" | "end"; readonly text: string } {
  const after = width - x2 - 8;
  const before = x1 - 8;
  const wanted = text.length * LETTER;
  if (wanted <= after || after >= before) return { x: x2 + 6, anchor: "start", text: cutToWords(text, after) };
  return { x: x1 - 6, anchor: "end", text: cutToWords(text, before) };
}

/** Where only a few letters fit, nothing is said. */
function cutToWords(text: string, width: number): string {
  const shown = cut(text, width);
  return shown.length < 6 && shown !== text ? "" : shown;
}

/** How long it took. */
export const tookWords = ({ point, start, end }: TraceRow): string => (point ? "" : duration(end - start));

const bothWords = (row: TraceRow): string => [tookWords(row), row.note].filter((part) => part !== "").join(" · ");

/** Words fit into a bar of one colour that is long enough. */
const isInside = ({ first, tone, note }: TraceRow, long: number): boolean =>
  first === undefined && tone !== "turn" && note !== "" && long > note.length * LETTER + 16;

/** A row in words, for those who cannot see it. */
export const rowWords = (row: TraceRow): string =>
  t`${row.name}: ${row.text}${row.point ? "" : `, ${duration(row.end - row.start)}`}, after ${duration(row.start)}`;

function bars(row: TraceRow, frame: Frame, y: number): SVGTemplateResult | typeof nothing {
  const width = timeWidth(frame);
  const place = (at: number): number => Math.min(Math.max(xOf(at, frame.view, width), 0), width);
  const [x1, x2] = [place(row.start), place(row.end)];
  if (row.end < frame.view.from || row.start > frame.view.to) return nothing;
  const left = frame.names;
  const tone = `${row.tone} ${row.bad ? "bad" : ""}`;
  if (row.point) {
    const middle = y + BAR / 2;
    return svg`<path class="bar ${tone}" d="M${left + x1} ${middle - 5}l5 5-5 5-5-5z"/>`;
  }
  const long = Math.max(LEAST, x2 - x1);
  const height = row.tone === "turn" ? 5 : BAR;
  const top = y + (BAR - height) / 2;
  const whole = svg`<rect class="bar ${tone} ${row.first !== undefined || row.tone === "queue" ? "soft" : ""} ${row.open ? "open" : ""}" x=${left + x1} y=${top} width=${long} height=${height} rx="2.5"/>`;
  if (row.first === undefined) return whole;
  const from = place(row.first);
  return svg`${whole}<rect class="bar ${tone}" x=${left + from} y=${top} width=${Math.max(LEAST, x2 - from)} height=${height} rx="2.5"/>`;
}

/** The picture of one row at its height. */
export function rowPicture(row: TraceRow, frame: Frame, top: number): SVGTemplateResult {
  const y = top + (frame.names === EDGE ? 22 : (frame.rowHeight - BAR) / 2);
  const back = svg`<rect class="back" x="1" y=${top} width=${Math.max(0, frame.width - 2)} height=${frame.rowHeight} rx="4"/>`;
  return svg`${back}${bars(row, frame, y)}${frame.names === EDGE ? wordsAbove(row, frame, top) : wordsBeside(row, frame, top, y)}`;
}

function wordsAbove(row: TraceRow, frame: Frame, top: number): SVGTemplateResult {
  const indent = EDGE + row.depth * 14;
  const name = cut(row.name, 130);
  const width = frame.width - indent - name.length * LETTER - 30;
  return svg`<text x=${indent} y=${top + 15}>${name}</text>
    <text class="note ${row.bad ? "bad" : ""}" x=${frame.width - EDGE} y=${top + 15} text-anchor="end">${cut(bothWords(row), width)}</text>`;
}

function wordsBeside(row: TraceRow, frame: Frame, top: number, y: number): SVGTemplateResult {
  const width = timeWidth(frame);
  const place = (at: number): number => Math.min(Math.max(xOf(at, frame.view, width), 0), width);
  const indent = EDGE + row.depth * 14;
  const [x1, x2] = [place(row.start), place(row.end)];
  const inside = isInside(row, x2 - x1);
  const note = inside ? { x: x1 + 7, anchor: "start", text: row.note } : noteAt(x1, Math.max(x2 + (row.point ? 4 : 0), x1 + LEAST), width, row.note);
  const line = top + frame.rowHeight / 2 + 4.5;
  return svg`<text x=${indent} y=${line}>${cut(row.name, NAMES - TIMES - indent - 4)}</text>
    <text class="note" x=${NAMES - 16} y=${line} text-anchor="end">${tookWords(row)}</text>
    <text class="note ${row.bad ? "bad" : ""} ${inside ? (row.tone === "queue" ? "pale" : "inside") : "free"}" x=${frame.names + note.x} y=${y + BAR - 2.5} text-anchor=${note.anchor}>${note.text}</text>`;
}
