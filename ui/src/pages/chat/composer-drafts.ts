import { browserPlatform } from "./model/platform.ts";

type Kept = Pick<Storage, "getItem" | "setItem" | "removeItem">;

/** What is written and not sent, by place. Each tab has its own; a tab that has none yet begins with what was written last in any. */
export interface Drafts {
  load(place: string): string;
  /** Keeps it for this tab, over its reloads, and for tabs that come later. */
  save(place: string, text: string): void;
  /** Where the files of a draft are on the shelf; undefined when there are none. */
  files(place: string): string | undefined;
  /** Where this tab puts them. Those of another tab, which it began with, stay where they are. */
  takeFiles(place: string): string;
  /** There are none any more. Gives what of this tab is to be removed from the shelf. */
  dropFiles(place: string): string | undefined;
}

export interface DraftsOptions {
  /** Of this tab alone. */
  readonly own?: Kept | undefined;
  /** Of all tabs, and of those that come later. */
  readonly shared?: Kept | undefined;
  /** A name that nobody else has. */
  readonly id?: () => string;
}

const PREFIX = "openclaw.";

/** A storage that may be full, forbidden or missing, and then keeps nothing. */
function storage(find: () => Kept | undefined) {
  return {
    get(place: string): string | undefined {
      try {
        return find()?.getItem(PREFIX + place) ?? undefined;
      } catch {
        return undefined;
      }
    },
    set(place: string, text: string | undefined): void {
      try {
        // Nothing at all rather than what it was before.
        find()?.removeItem(PREFIX + place);
        if (text !== undefined) find()?.setItem(PREFIX + place, text);
      } catch {
        // Full, or forbidden.
      }
    },
  };
}

/** Drafts of this tab. A tab that emptied its box stays empty: what another one writes meanwhile is not its own. */
export function createDrafts(options: DraftsOptions = {}): Drafts {
  const own = storage(() => ("own" in options ? options.own : sessionStorage));
  const shared = storage(() => ("shared" in options ? options.shared : localStorage));
  const { id = browserPlatform.id } = options;
  const marker = (place: string): string => `files.${place}`;
  const load = (place: string): string => own.get(place) ?? shared.get(place) ?? "";
  return {
    load,
    save(place, text) {
      const before = load(place);
      const now = text.trim() === "" ? "" : text;
      own.set(place, now);
      if (now !== "") shared.set(place, now);
      // What another tab wrote there is still wanted.
      else if (shared.get(place) === before) shared.set(place, undefined);
    },
    files: (place) => (own.get(marker(place)) ?? shared.get(marker(place))) || undefined,
    takeFiles(place) {
      const mine = own.get(marker(place)) || `${place}#${id()}`;
      for (const kept of [own, shared]) kept.set(marker(place), mine);
      return mine;
    },
    dropFiles(place) {
      const mine = own.get(marker(place));
      const found = mine ?? shared.get(marker(place));
      own.set(marker(place), "");
      if (shared.get(marker(place)) === found) shared.set(marker(place), undefined);
      return mine || undefined;
    },
  };
}
