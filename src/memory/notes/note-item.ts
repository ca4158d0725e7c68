import { localTime, timeZoneOf } from "../zone.ts";
import { MAIN_NOTE } from "./note-path.ts";

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
