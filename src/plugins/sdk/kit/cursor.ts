/** Where reading goes on after a restart: never behind an event that is not stored. */

export interface CursorStore<T> {
  load(): Promise<T | undefined>;
  /** Undefined: there is none any more. */
  save(position: T | undefined): Promise<void>;
}

export interface Cursor<T> {
  /** The position behind the last event that is stored, with all before it. */
  readonly position: T | undefined;
  /** An event with this position was read. Call the result when it is stored. Positions come in the platform's order. */
  began(position: T): () => void;
  /** Writes the position now. */
  flush(): Promise<void>;
  /** Forgets everything and starts at this position: a new session of the platform. */
  reset(position: T | undefined): void;
}

export interface CursorOptions<T> {
  readonly store: CursorStore<T>;
  readonly now: () => number;
  /** The position is written at most this often; `flush` writes what is left. Default 1000. */
  readonly everyMs?: number | undefined;
  readonly failed?: ((error: unknown) => void) | undefined;
}

/** Opens a cursor at its stored position; where that cannot be read there is none. Events that are read again are harmless: the inbox knows their ids. */
export async function openCursor<T>({ store, now, everyMs = 1000, failed }: CursorOptions<T>): Promise<Cursor<T>> {
  let position: T | undefined = await store.load().catch((error: unknown) => {
    failed?.(error);
    return undefined;
  });
  let open: { readonly position: T; isStored: boolean }[] = [];
  let written = position;
  let writtenAt = now();
  let writing: Promise<void> = Promise.resolve();

  async function save(next: T | undefined, before: Promise<void>): Promise<void> {
    await before;
    try {
      await store.save(next);
    } catch (error) {
      failed?.(error);
    }
  }

  function write(): Promise<void> {
    if (position === written) return writing;
    const next = position;
    written = next;
    writtenAt = now();
    writing = save(next, writing);
    return writing;
  }

  function advance(): void {
    let stored = 0;
    while (open[stored]?.isStored === true) stored += 1;
    if (stored === 0) return;
    position = open[stored - 1]!.position;
    open = open.slice(stored);
    if (now() - writtenAt >= everyMs) void write();
  }

  return {
    get position() {
      return position;
    },
    began(at) {
      const entry = { position: at, isStored: false };
      open.push(entry);
      return () => {
        if (entry.isStored) return;
        entry.isStored = true;
        advance();
      };
    },
    flush: write,
    reset(next) {
      open = [];
      position = next;
      void write();
    },
  };
}

interface KeyedStore {
  lookup(key: string): Promise<unknown>;
  register(key: string, value: unknown, options?: { ttlMs?: number }): Promise<void>;
}

/** A cursor's store in the plugin's own state (`api.runtime.state.openKeyedStore`). What `read` does not recognize counts as nothing. */
export function keyedCursorStore<T>(
  open: () => KeyedStore | undefined,
  key: string,
  read: (stored: unknown) => T | undefined,
  options: { readonly ttlMs?: number | undefined } = {},
): CursorStore<T> {
  const { ttlMs } = options;
  return {
    load: async () => read(await open()?.lookup(key)),
    save: async (position) => open()?.register(key, position ?? null, ttlMs === undefined ? {} : { ttlMs }),
  };
}
