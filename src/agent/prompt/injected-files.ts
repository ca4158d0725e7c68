import { basename } from "node:path";
import type { BootstrapFile } from "../workspace/bootstrap-names.ts";
import { UNFILLED } from "../workspace/first-files.ts";

export interface InjectedFile {
  readonly name: string;
  readonly path: string;
  readonly missing: boolean;
  readonly rawChars: number;
  readonly truncated: boolean;
  /** What the prompt shows; empty when nothing. */
  readonly text: string;
  /** It still has the text of a new workspace, which holds nothing: the prompt only names it. */
  readonly unfilled?: true;
}

export interface InjectedFiles {
  readonly files: readonly InjectedFile[];
  readonly maxChars: number;
  readonly totalMaxChars: number;
}

export interface InjectionLimits {
  /** `agents.defaults.bootstrapMaxChars`. */
  readonly maxChars?: number | undefined;
  /** `agents.defaults.bootstrapTotalMaxChars`. */
  readonly totalMaxChars?: number | undefined;
}

export const BOOTSTRAP_MAX_CHARS = 20_000;
export const BOOTSTRAP_TOTAL_MAX_CHARS = 150_000;
const HEAD_SHARE = 0.7;
const TAIL_SHARE = 0.2;
/** With less than this left, the rest of the files are only named. */
const LEAST_CHARS = 64;

/** Chooses what of the workspace's files is shown, in their order: each up to its limit, all together up to theirs. */
export function injectFiles(files: readonly BootstrapFile[], limits: InjectionLimits = {}): InjectedFiles {
  const maxChars = limits.maxChars ?? BOOTSTRAP_MAX_CHARS;
  const totalMaxChars = limits.totalMaxChars ?? BOOTSTRAP_TOTAL_MAX_CHARS;
  let left = totalMaxChars;
  const injected = files.map((file): InjectedFile => {
    const shown = shownPart(file, Math.min(maxChars, left < LEAST_CHARS ? 0 : left));
    left -= shown.text.length;
    return { name: file.name, path: file.path, missing: file.missing, ...shown };
  });
  return { files: injected, maxChars, totalMaxChars };
}

function shownPart(file: BootstrapFile, max: number): Pick<InjectedFile, "rawChars" | "truncated" | "text" | "unfilled"> {
  if (file.content === undefined) {
    const line = file.refused === undefined ? `[MISSING] Expected at: ${file.path}` : `[NOT READ] ${file.path}: ${file.refused}`;
    return { rawChars: file.rawChars ?? 0, truncated: false, text: line.length <= max ? line : "" };
  }
  const whole = file.content.trimEnd();
  const rawChars = file.rawChars ?? file.content.length;
  if (whole.trim() === "") return { rawChars, truncated: false, text: "" };
  if (UNFILLED.get(file.name) === whole) return { rawChars, truncated: false, text: "", unfilled: true };
  const partial = rawChars > file.content.length;
  if (whole.length <= max && !partial) return { rawChars, truncated: false, text: whole };
  return { rawChars, truncated: true, text: cut(whole, max, rawChars, file) };
}

/** The beginning, a marker and the end, within `max` characters. */
function cut(text: string, max: number, rawChars: number, file: BootstrapFile): string {
  const head = wholeEnd(text.slice(0, Math.floor(max * HEAD_SHARE)));
  const tailStart = Math.max(head.length, text.length - Math.floor(max * TAIL_SHARE));
  const tail = wholeStart(text.slice(tailStart));
  const marker = `\n[… ${rawChars - head.length - tail.length} of ${rawChars} characters are left out here; read ${basename(file.path)} for all of it …]\n`;
  if (head.length + marker.length + tail.length <= max) return head + marker + tail;
  // Too short for both ends: the beginning alone, and the marker if that fits.
  return marker.length < max ? wholeEnd(text.slice(0, max - marker.length)) + marker : wholeEnd(text.slice(0, max));
}

/** Without half of a surrogate pair at the end. */
function wholeEnd(text: string): string {
  return /[\uD800-\uDBFF]$/.test(text) ? text.slice(0, -1) : text;
}

function wholeStart(text: string): string {
  return /^[\uDC00-\uDFFF]/.test(text) ? text.slice(1) : text;
}
