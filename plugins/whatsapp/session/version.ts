/** Which version of WhatsApp Web this client says it is: WhatsApp refuses old ones. */
import type { Library } from "./library.ts";

export interface Versions {
  /** Undefined: the one that the library brings. */
  current(library: Library, signal: AbortSignal): Promise<[number, number, number] | undefined>;
  /** It was refused: to be asked for again. */
  forget(): void;
}

const KEPT_MS = 24 * 3_600_000;
const ASK_MS = 5000;

/** Asks WhatsApp once a day. Without an answer in time the library's own version is used. */
export function createVersions(now: () => number): Versions {
  let known: { readonly version: [number, number, number]; readonly until: number } | undefined;
  return {
    async current(library, signal) {
      if (known && known.until > now()) return known.version;
      const { version, isLatest } = await library.fetchLatestWaWebVersion({ signal: AbortSignal.any([signal, AbortSignal.timeout(ASK_MS)]) });
      if (!isLatest) return undefined;
      known = { version, until: now() + KEPT_MS };
      return version;
    },
    forget() {
      known = undefined;
    },
  };
}

/** The library's own: for a server that is not WhatsApp. */
export const BUNDLED_VERSION: Versions = { current: async () => undefined, forget: () => {} };
