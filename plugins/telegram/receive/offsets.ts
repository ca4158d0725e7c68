/** Where reading goes on after a restart. Telegram itself keeps what was not confirmed, so this only saves reading it twice. */

export interface OffsetStore {
  /** The next update to ask for, if it is known. */
  load(accountId: string): Promise<number | undefined>;
  save(accountId: string, offset: number): Promise<void>;
}

interface KeyedStore {
  lookup(key: string): Promise<unknown>;
  register(key: string, value: unknown, options?: { ttlMs?: number }): Promise<void>;
}

/** Telegram keeps updates for a day; after a silent week the numbering restarts. An older offset would hide new ones. */
const KEPT_MS = 24 * 60 * 60 * 1000;

/** Offsets by account and bot, in a store of the host. */
export function createOffsets(open: () => KeyedStore | undefined, botId: number | undefined): OffsetStore {
  const keyOf = (accountId: string): string => `${accountId}:${botId ?? ""}`;
  return {
    async load(accountId) {
      const value = await open()?.lookup(keyOf(accountId));
      return Number.isSafeInteger(value) ? (value as number) : undefined;
    },
    async save(accountId, offset) {
      await open()?.register(keyOf(accountId), offset, { ttlMs: KEPT_MS });
    },
  };
}
