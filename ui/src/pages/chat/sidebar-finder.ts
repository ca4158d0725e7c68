import type { MethodResult } from "openclaw/client";
import { failureText } from "../../link/failure.ts";
import type { SessionRow } from "./sidebar-groups.ts";
import { FIRST, type ListSessions } from "./sidebar-paging.ts";

/** What was looked for last. */
export interface Search {
  readonly words: string;
  /** All that were found. */
  readonly total: number;
  readonly error?: string;
}

/** Messages that were found. */
export interface Hits extends Omit<MethodResult<"chat.search">, "next"> {
  readonly words: string;
  readonly next?: string | undefined;
}

/** What a search has found so far. */
export interface Found {
  readonly found: readonly SessionRow[] | undefined;
  readonly search?: Search | undefined;
  readonly hits?: Hits | undefined;
}

export type FindMessages = (words: string, cursor?: string) => Promise<MethodResult<"chat.search"> | undefined>;

export interface Finder {
  search(words: string): void;
  /** Looks once more, for what is new. False when nothing is looked for. */
  again(): boolean;
  /** More of what was found. False when nothing is looked for. */
  further(): boolean;
  moreHits(): Promise<void>;
}

/** Runs a question for the newest words: at once when none is on its way, else as soon as that one is answered. */
function createAsking(ask: (words: string) => Promise<void>): (words: string) => void {
  let wanted: string | undefined;
  let busy = false;
  async function run(): Promise<void> {
    busy = true;
    while (wanted !== undefined) {
      const words = wanted;
      wanted = undefined;
      await ask(words);
    }
    busy = false;
  }
  return (words) => {
    wanted = words;
    if (!busy) void run();
  };
}

/** Looks through all conversations on the gateway with every key: what they are called, and at the same time what was said in them. */
export function createFinder(list: ListSessions, messages: FindMessages, change: (part: Found) => void): Finder {
  let words = "";
  let now: Found = { found: undefined };
  const show = (part: Partial<Found>): void => change((now = { ...now, ...part }));

  const names = createAsking(async (looked) => {
    const known = now.search?.words === looked ? (now.found?.length ?? 0) : 0;
    const part = await list(Math.max(FIRST, Math.min(500, known)), { search: looked }).then(
      ({ sessions, total }) => ({ found: sessions, search: { words: looked, total: total ?? sessions.length } }),
      (error: unknown) => ({ found: [], search: { words: looked, total: 0, error: failureText(error) } }),
    );
    // What was found for the beginning of a word is shown until the whole word is answered.
    if (words !== "" && (looked === words || words.startsWith(looked))) show(part);
  });
  const texts = createAsking(async (looked) => {
    const hits = await messages(looked).catch(() => undefined);
    if (looked === words) show({ hits: hits && { ...hits, words: looked } });
  });

  function ask(): void {
    names(words);
    texts(words);
  }

  async function further(): Promise<void> {
    const looked = words;
    const { found = [], search } = now;
    if (!search || search.words !== looked || found.length >= search.total) return;
    const page = await list(FIRST, { search: looked, offset: found.length });
    if (looked !== words || now.found !== found) return;
    const known = new Set(found.map(({ key }) => key));
    show({ found: [...found, ...page.sessions.filter(({ key }) => !known.has(key))], search: { words: looked, total: page.total ?? search.total } });
  }

  return {
    search(typed) {
      words = typed.trim();
      if (words === "") return show({ found: undefined, search: undefined, hits: undefined });
      ask();
    },
    again() {
      if (words !== "") ask();
      return words !== "";
    },
    further() {
      if (words !== "") void further().catch(() => undefined);
      return words !== "";
    },
    async moreHits() {
      const { hits } = now;
      const page = hits?.next === undefined ? undefined : await messages(hits.words, hits.next);
      if (!hits || !page || now.hits !== hits) return;
      show({ hits: { ...hits, ...page, results: [...hits.results, ...page.results], next: page.next } });
    },
  };
}
