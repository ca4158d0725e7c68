import { join } from "node:path";
import { AppError } from "../../base/errors.ts";
import { hasLink } from "../read-lines.ts";
import { localTime, timeZoneOf } from "../zone.ts";

/** The file in which what is always true stands. */
export const MAIN_NOTE = "MEMORY.md";

/** A note that may be written: where it is, and how it is cited. */
export interface NotePath {
  readonly path: string;
  readonly file: string;
}

const isFine = (part: string): boolean => part !== "" && part !== "." && part !== ".." && part.length <= 200;

/** A note of a workspace by its path: `MEMORY.md` or a Markdown file below `memory/`. Everything else is refused, links too. */
export function notePath(workspace: string, written: string): NotePath {
  const path = written.trim().replace(/^\.\//, "");
  const parts = path.split("/");
  const isNote = path === MAIN_NOTE || path === "memory.md" || (parts.length > 1 && parts[0] === "memory" && /\.md$/i.test(path));
  if (!isNote || !parts.every(isFine) || /[\0\\]/.test(path)) {
    throw new AppError(
      "INVALID_INPUT",
      `${JSON.stringify(written.slice(0, 200))} is not a note: expected MEMORY.md or a Markdown file in memory/, such as memory/2026-11-17.md`,
    );
  }
  const file = join(workspace, ...parts);
  if (hasLink(workspace, file)) throw new AppError("INVALID_INPUT", `${path} is a symbolic link or below one; notes must be plain files`);
  return { path, file };
}

/** The day that a note is named after: `YYYY-MM-DD`. */
export function dayOfNote(path: string): string | undefined {
  const found = /(?:^|\/)(\d{4}-\d{2}-\d{2})(?!\d)[^/]*$/.exec(path)?.[1];
  return found !== undefined && !Number.isNaN(Date.parse(`${found}T12:00:00Z`)) ? found : undefined;
}

export interface ItemOptions {
  /** Into `MEMORY.md`, which every session reads, instead of the note of the day. */
  readonly always: boolean;
  /** Milliseconds since the epoch, and whose day it is. */
  readonly now: number;
  readonly timeZone?: string | undefined;
}

export interface NoteItem {
  readonly path: string;
  /** The note with the item at its end, and the line where it stands, counted from 1. */
  added(note: string): { readonly text: string; readonly line: number };
}

/** One list item. Further lines belong to it. */
const itemOf = (text: string): string => `- ${text.trim().replace(/\r\n?/g, "\n").split("\n").join("\n  ")}`;

/** A text as an item of a note: with its time in the note of the day, without in `MEMORY.md`. */
export function noteItem(text: string, { always, now, timeZone }: ItemOptions): NoteItem {
  const { day, time } = localTime(now, timeZoneOf(timeZone));
  const item = itemOf(always ? text : `${time} ${text.trim()}`);
  return {
    path: always ? MAIN_NOTE : `memory/${day}.md`,
    added(note) {
      const begun = note.trim() === "" ? (always ? "# Memory\n\n" : `# ${day}\n\n`) : note.endsWith("\n") ? note : `${note}\n`;
      return { text: `${begun}${item}\n`, line: begun.split("\n").length };
    },
  };
}
