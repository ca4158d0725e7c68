import { AppError, messageOf } from "../../../base/errors.ts";
import { failedOutcome, textOutcome, type ToolOutcome } from "../../tool.ts";

const MAX_BYTES = 50 * 1024;

/** Lines of a result, up to what can be shown. */
export interface Page {
  readonly lines: readonly string[];
  readonly full: boolean;
  /** False when it did not fit. */
  add(line: string): boolean;
  /** The lines and, below them, what was left out. */
  outcome(empty: string, notices: readonly (string | undefined)[], details?: Readonly<Record<string, unknown>>): ToolOutcome;
}

export function createPage(): Page {
  const lines: string[] = [];
  let bytes = 0;
  let full = false;
  return {
    lines,
    get full() {
      return full;
    },
    add(line) {
      const size = Buffer.byteLength(line) + 1;
      full ||= bytes + size > MAX_BYTES;
      if (full) return false;
      lines.push(line);
      bytes += size;
      return true;
    },
    outcome(empty, notices, details = {}) {
      const said = [...notices, full ? `${(MAX_BYTES / 1024).toFixed(1)}KB limit reached` : undefined].filter((text) => text !== undefined);
      const body = lines.length === 0 ? empty : lines.join("\n");
      const all = { ...details, ...(full ? { truncation: { truncated: true, outputLines: lines.length, outputBytes: bytes } } : {}) };
      return textOutcome(said.length === 0 ? body : `${body}\n\n[${said.join(". ")}]`, Object.keys(all).length === 0 ? undefined : all);
    },
  };
}

/** A number of things as a model wrote it. */
export function limitOf(value: unknown, standard: number, most: number): number {
  return typeof value === "number" && value >= 1 ? Math.min(Math.floor(value), most) : standard;
}

/** Why a path could not be looked at. Throws what is no such failure. */
export function pathFailure(error: unknown, written: string): ToolOutcome {
  if (!(error instanceof AppError)) throw error;
  if (error.code === "NOT_FOUND") return failedOutcome(`Path not found: ${written}`);
  return failedOutcome(error.code === "INVALID_INPUT" ? `Not a directory: ${written}` : messageOf(error));
}
