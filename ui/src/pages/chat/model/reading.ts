import type { Link } from "../../../link/link.ts";
import { fromEntry, fromNewest, NOTHING, sameTranscript, withNewer, withOlder, type PageAnswer, type Stretch } from "./entries.ts";
import { pageOfHistory } from "./history.ts";

export interface ReadingOptions {
  readonly link: Pick<Link, "has" | "request">;
  readonly sessionKey: string;
  /** How much has come over the wire. */
  heard(): number;
  /** Approvals whose commands may have changed. */
  unsettled?(entries: Stretch["entries"]): readonly string[];
  /** What a page reports about commands, whichever entries it has. */
  commands?(reported: PageAnswer["commands"]): void;
  /**
   * A page with the newest entries, requested when so much had been heard: what it reports beside entries counts. `replaced`: the transcript is
   * another one than before.
   */
  onPage(page: PageAnswer, asked: number, replaced: boolean): void;
}

/** The stretch of a transcript that is held, and how it grows. One thing at a time: the caller sees to that. */
export interface Reading {
  readonly stretch: Stretch;
  /** What is new. */
  load(): Promise<void>;
  /** Begins again with the newest. */
  newest(): Promise<void>;
  older(): Promise<void>;
  newer(): Promise<void>;
  /** Begins again around the entry at a position, however far back. */
  from(seq: number): Promise<void>;
}

const FIRST = 60;
const NEXT = 200;
/** Lines before an entry that is gone to. */
const AROUND = 40;
/** Pages that are read to catch up; who is further behind begins again with the newest. */
const MOST_PAGES = 5;

interface Place {
  readonly before?: number;
  readonly after?: number;
  readonly limit: number;
}

export function createReading({ link, sessionKey, heard, onPage, ...options }: ReadingOptions): Reading {
  let stretch: Stretch = NOTHING;

  async function read(place: Place): Promise<PageAnswer> {
    if (link.has("chat.page")) {
      const commands = [...(options.unsettled?.(stretch.entries) ?? [])];
      const page = await link.request("chat.page", { sessionKey, ...place, ...(commands.length === 0 ? {} : { commands }) });
      options.commands?.(page.commands);
      return page;
    }
    return pageOfHistory(await link.request("chat.history", { sessionKey, limit: NEXT }));
  }

  async function newest(): Promise<void> {
    const asked = heard();
    const page = await read({ limit: FIRST });
    const replaced = !sameTranscript(stretch, page);
    stretch = fromNewest(page);
    onPage(page, asked, replaced);
  }

  /** Reads on from what is known. False when that is too much, or no longer the same transcript. */
  async function catchUp(pages: number): Promise<boolean> {
    for (let left = pages; left > 0; left -= 1) {
      const asked = heard();
      const after = stretch.known;
      if (after === undefined) return false;
      const page = await read({ after, limit: NEXT });
      if (!sameTranscript(stretch, page)) return false;
      stretch = withNewer(stretch, page, after);
      if (stretch.moreAfter) continue;
      onPage(page, asked, false);
      return true;
    }
    return false;
  }

  /** The reader is far up: what is new is read when they come down, runs and waiting messages are known already. */
  async function besides(): Promise<void> {
    const asked = heard();
    const page = await read({ after: Number.MAX_SAFE_INTEGER, limit: 1 });
    if (!sameTranscript(stretch, page)) return newest();
    onPage(page, asked, false);
  }

  return {
    get stretch() {
      return stretch;
    },
    newest,
    async load() {
      if (!link.has("chat.page") || stretch.entries.length === 0) return newest();
      if (stretch.moreAfter) return besides();
      if (!(await catchUp(MOST_PAGES))) await newest();
    },
    async older() {
      const before = stretch.entries[0]?.seq;
      if (before === undefined || !stretch.moreBefore) return;
      const page = await read({ before, limit: NEXT });
      stretch = sameTranscript(stretch, page) ? withOlder(stretch, page, before) : stretch;
    },
    async from(seq) {
      const asked = heard();
      const page = await read({ after: Math.max(0, seq - AROUND), limit: FIRST + AROUND });
      if (!page.entries.some((entry) => entry.seq === seq)) return;
      const replaced = !sameTranscript(stretch, page);
      stretch = fromEntry(page);
      onPage(page, asked, replaced);
    },
    async newer() {
      if (stretch.moreAfter) await catchUp(1);
    },
  };
}
