import type { PageContext } from "../context.ts";
import type { SessionRow } from "./sources.ts";

/** Sessions that are shown at once. */
const MOST = 30;

export interface KnownSessions {
  /** The newest sessions. */
  readonly recent: readonly SessionRow[];
  /** Sessions that were found for the words. */
  readonly found: readonly SessionRow[];
  readonly foundFor: string;
  /** The chat that is open, where it is none of the newest. */
  readonly open: SessionRow | undefined;
  /** So many sessions fit beyond those. */
  readonly beyond: number;
}

export const NO_SESSIONS: KnownSessions = { recent: [], found: [], foundFor: "", open: undefined, beyond: 0 };

/** Asks the gateway for sessions: the newest and the open one when the palette opens, others for what is typed. */
export function createSessionSearch({ link, router }: Pick<PageContext, "link" | "router">, put: (part: Partial<KnownSessions>) => void) {
  let asked = 0;
  const list = (narrowed: { readonly search: string } | { readonly automation: false }) =>
    link.request("sessions.list", { limit: MOST, includeDerivedTitles: true, includeGlobal: true, ...narrowed }).catch(() => undefined);

  return {
    async find(words: string): Promise<void> {
      const mine = (asked += 1);
      const answer = await list(words === "" ? { automation: false } : { search: words });
      if (mine !== asked) return;
      const sessions = answer?.sessions ?? [];
      const beyond = Math.max(0, (answer?.total ?? 0) - sessions.length);
      put(words === "" ? { recent: sessions, found: [], foundFor: words, beyond } : { found: sessions, foundFor: words, beyond });
    },
    /** A search meanwhile changes nothing of these: what the page is about stays known. */
    async loadRecent(): Promise<void> {
      const mine = (asked += 1);
      put({ found: [], foundFor: "" });
      const answer = await list({ automation: false });
      const recent = answer?.sessions ?? [];
      put(mine === asked ? { recent, beyond: Math.max(0, (answer?.total ?? 0) - recent.length) } : { recent });
      const { page, rest } = router.route.value;
      const [key] = rest;
      if (page !== "chat" || key === undefined || recent.some((row) => row.key === key)) return put({ open: undefined });
      const others = await list({ search: key });
      put({ open: others?.sessions.find((row) => row.key === key) });
    },
  };
}
