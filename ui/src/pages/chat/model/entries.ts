import type { MethodResult } from "openclaw/client";
import type { ChatEntry } from "./state.ts";

export type PageAnswer = MethodResult<"chat.page">;

/** A stretch of a transcript without holes, and how far it is known. */
export interface Stretch {
  readonly entries: readonly ChatEntry[];
  /** Everything up to here, from the first entry on, is held. Undefined: nothing was read yet. */
  readonly known: number | undefined;
  readonly moreBefore: boolean;
  readonly moreAfter: boolean;
  /** Which transcript the positions belong to. */
  readonly sessionId: string | undefined;
  readonly began: number | undefined;
  /** Which of its branches entries belong to. */
  readonly fork?: number | undefined;
}

export const NOTHING: Stretch = { entries: [], known: undefined, moreBefore: false, moreAfter: false, sessionId: undefined, began: undefined };

/** Entries held in memory at most. Far ones are dropped, and read again when they are scrolled to. */
const MOST_HELD = 2000;

/** True when the positions of both mean the same entries. */
export const sameTranscript = (held: Pick<Stretch, "sessionId" | "began" | "fork">, other: Pick<PageAnswer, "sessionId" | "began" | "fork">): boolean =>
  held.sessionId === other.sessionId && held.began === other.began && held.fork === other.fork;

/** What is held with everything in [from, to) as it was just read: there and nowhere else. */
function replaced(held: readonly ChatEntry[], from: number, to: number, read: readonly ChatEntry[]): readonly ChatEntry[] {
  const before = held.filter(({ seq }) => seq < from);
  const after = held.filter(({ seq }) => seq >= to);
  if (read.length === 0 && before.length + after.length === held.length) return held;
  const inside = read.filter(({ seq }) => seq >= from && seq < to);
  return [...before, ...inside.toSorted((a, b) => a.seq - b.seq), ...after];
}

function withoutOldest(stretch: Stretch, most: number): Stretch {
  const spare = stretch.entries.length - most;
  return spare <= 0 ? stretch : { ...stretch, entries: stretch.entries.slice(spare), moreBefore: true };
}

function withoutNewest(stretch: Stretch, most: number): Stretch {
  const { entries } = stretch;
  if (entries.length <= most) return stretch;
  const kept = entries.slice(0, most);
  return { ...stretch, entries: kept, known: kept.at(-1)!.seq, moreAfter: true };
}

/** A stretch that begins with the newest entries. */
export function fromNewest(page: PageAnswer): Stretch {
  const { entries, more, last, sessionId, began, fork } = page;
  return { entries: [...entries], known: Math.max(last, entries.at(-1)?.seq ?? 0), moreBefore: more, moreAfter: false, sessionId, began, fork };
}

/** A stretch from somewhere in the transcript. */
export function fromEntry(page: PageAnswer): Stretch {
  const { entries, more } = page;
  return more ? { ...fromNewest(page), known: entries.at(-1)?.seq ?? 0, moreBefore: true, moreAfter: true } : { ...fromNewest(page), moreBefore: true };
}

/** With what was read before a position that is held. */
export function withOlder(held: Stretch, page: PageAnswer, before: number, most = MOST_HELD): Stretch {
  const from = page.more ? (page.entries[0]?.seq ?? before) : 0;
  const entries = replaced(held.entries, from, before, page.entries);
  return withoutNewest({ ...held, entries, moreBefore: page.more && page.entries.length > 0 }, most);
}

/** With what was read after the last position that is known. */
export function withNewer(held: Stretch, page: PageAnswer, after: number, most = MOST_HELD): Stretch {
  const end = page.entries.at(-1)?.seq;
  const more = page.more && end !== undefined;
  const entries = replaced(held.entries, after + 1, more ? end + 1 : Number.POSITIVE_INFINITY, page.entries);
  const known = more ? end : Math.max(after, page.last, end ?? 0);
  return withoutOldest({ ...held, entries, known, moreAfter: more }, most);
}
