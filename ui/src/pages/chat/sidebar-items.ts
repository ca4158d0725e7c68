import type { ListedSession, SessionGroup } from "./sidebar-groups.ts";

/** One line of the list. `id`: the same from drawing to drawing. */
export type ListItem =
  | { readonly kind: "head"; readonly id: string; readonly section: string; readonly folder?: FolderHead }
  | { readonly kind: "session"; readonly id: string; readonly section: string; readonly session: ListedSession; readonly at: number; readonly of: number }
  /** More is read when it comes into view. */
  | { readonly kind: "more"; readonly id: string; readonly section: string; readonly list: string };

export interface FolderHead {
  readonly name: string;
  readonly total: number;
  readonly isOpen: boolean;
}

/** A heading with its sessions. */
export interface ListSection extends SessionGroup {
  readonly folder?: FolderHead | undefined;
  /** The list that goes on behind it. */
  readonly more?: string | undefined;
}

/** Pixels of each kind of line; the style sheet has the same. */
export const HEIGHTS: Readonly<Record<ListItem["kind"], number>> = { head: 34, session: 52, more: 40 };

/** Lines beyond what is seen, in both directions. */
const BEYOND = 8;
/** The lines that are drawn change in steps, so that not every pixel of scrolling draws. */
const STEP = 4;

/** Sections as lines under each other, with where each begins. */
export interface ListLines {
  readonly items: readonly ListItem[];
  /** Tops of the lines, and behind them the height of all. */
  readonly tops: Float64Array;
}

export function linesOf(sections: readonly ListSection[]): ListLines {
  const items: ListItem[] = [];
  for (const { name, sessions, folder, more } of sections) {
    const section = folder ? `folder:${name}` : name;
    items.push({ kind: "head", id: `h ${section}`, section, ...(folder ? { folder } : {}) });
    sessions.forEach((session, at) => items.push({ kind: "session", id: `${section} ${session.key}`, section, session, at: at + 1, of: sessions.length }));
    if (more !== undefined) items.push({ kind: "more", id: `m ${more}`, section, list: more });
  }
  const tops = new Float64Array(items.length + 1);
  items.forEach(({ kind }, at) => (tops[at + 1] = tops[at]! + HEIGHTS[kind]));
  return { items, tops };
}

/** The line at a height. */
function lineAt(tops: Float64Array, height: number): number {
  let [low, high] = [0, tops.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (tops[middle]! <= height) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** The lines to draw. */
export interface DrawnLines {
  readonly from: number;
  readonly to: number;
}

export function drawnLines({ items, tops }: ListLines, top: number, height: number): DrawnLines {
  const first = lineAt(tops, Math.max(0, top)) - BEYOND;
  const last = lineAt(tops, Math.max(0, top + height)) + 1 + BEYOND;
  return { from: Math.max(0, first - (first % STEP)), to: Math.min(items.length, last + STEP - (last % STEP)) };
}
