import type { ReadKind, Write } from "./areas/index.ts";
import type { SessionRow } from "./areas/sessions.ts";
import { changedKeys, patchedEntry } from "./patched-entry.ts";
import type { Store } from "./store.ts";

const MOST_KEPT = 64;

/** The session after a write that was committed; undefined when only the store knows. */
function rowAfter([kind, input]: Write, result: unknown, before: SessionRow | undefined): SessionRow | undefined {
  if (kind === "sessions.patch") return result as SessionRow;
  const { version } = (result ?? {}) as { readonly version?: number };
  if (version === undefined) return undefined;
  if (kind === "sessions.put") {
    // As JSON keeps it.
    const entry = Object.fromEntries(Object.entries(input.entry).filter(([, value]) => value !== undefined)) as unknown as SessionRow["entry"];
    return { key: input.key, agentId: input.agentId, version, entry };
  }
  if (kind !== "sessions.merge" || before?.version !== version - 1) return undefined;
  return { ...before, version, entry: patchedEntry(before.entry, input.patch) };
}

/** Changes no session. When it is refused, what is known of the sessions it relied on may be why. */
async function asserted<T>(rows: Map<string, SessionRow>, writes: readonly Write[], run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    for (const [kind, input] of writes) if (kind === "sessions.expect") rows.delete(input.key);
    throw error;
  }
}

/**
 * The same store, with the sessions that were used last at hand: each message asks for its session, and a question to the store's thread costs more than
 * the rest of its way there. Right as long as all that changes sessions goes through here. While a change is under way the store is asked, after it.
 */
export function rememberSessions(store: Store): Store {
  /** Longest unused first. */
  const rows = new Map<string, SessionRow>();
  /** Changes under way, by key, and the number of the last of them. */
  const changing = new Map<string, { readonly count: number; readonly last: number }>();
  let renaming = 0;
  /** Grows with each change: what was read meanwhile may be out of date. */
  let changes = 0;

  function keep(row: SessionRow): void {
    rows.delete(row.key);
    rows.set(row.key, Object.freeze({ ...row, entry: Object.freeze({ ...row.entry }) }));
    if (rows.size > MOST_KEPT) rows.delete(rows.keys().next().value!);
  }

  /** Forgets what is about to change; gives what was known of it, and the way to say that it is over. */
  function begin(keys: ReadonlySet<string> | undefined): { readonly number: number; readonly before: ReadonlyMap<string, SessionRow>; over(): void } {
    const number = (changes += 1);
    const before = new Map<string, SessionRow>();
    if (!keys) {
      renaming += 1;
      rows.clear();
      return { number, before, over: () => void (renaming -= 1) };
    }
    for (const key of keys) {
      const row = rows.get(key);
      if (row) before.set(key, row);
      rows.delete(key);
      changing.set(key, { count: (changing.get(key)?.count ?? 0) + 1, last: number });
    }
    const over = (): void => {
      for (const key of keys) {
        const { count, last } = changing.get(key)!;
        if (count === 1) changing.delete(key);
        else changing.set(key, { count: count - 1, last });
      }
    };
    return { number, before, over };
  }

  const listeners = new Set<Parameters<NonNullable<Store["onWrites"]>>[0]>();

  async function watched<T extends readonly unknown[]>(writes: readonly Write[], by: object | undefined, run: () => Promise<T>): Promise<T> {
    for (const listener of listeners) listener(writes, by);
    const touched = writes.map(changedKeys);
    if (touched.every((keys) => keys?.length === 0)) return asserted(rows, writes, run);
    const keys = touched.includes(undefined) ? undefined : new Set(touched.flatMap((each) => each ?? []));
    const { number, before, over } = begin(keys);
    try {
      const results = await run();
      // Known after one change of one session; whoever does more is rare enough to be read again.
      const at = touched.findIndex((each) => each?.length !== 0);
      const key = keys?.size === 1 ? [...keys][0]! : undefined;
      const single = key !== undefined && touched.filter((each) => each?.length !== 0).length === 1;
      const latest = single && changing.get(key)?.last === number && renaming === 0;
      const row = latest ? rowAfter(writes[at]!, results[at], before.get(key)) : undefined;
      if (row) keep(row);
      return results;
    } finally {
      over();
    }
  }

  store.onExternalChange?.(() => {
    for (const listener of listeners) listener(undefined, undefined);
    begin(undefined).over();
  });

  async function session(key: string): Promise<SessionRow | undefined> {
    const known = changing.has(key) || renaming > 0 ? undefined : rows.get(key);
    if (known) return known;
    const then = changes;
    const row = await store.read("sessions.get", { key });
    if (row && changes === then && renaming === 0) keep(row);
    return row;
  }

  return {
    ...store,
    onWrites(listener) {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
    commit: (writes, options) => watched(writes, options?.by, () => store.commit(writes, options) as Promise<unknown[]>) as never,
    write: async (kind, input, options) => {
      const write = [kind, input] as unknown as Write;
      return (await watched([write], options?.by, async () => [await store.write(kind, input, options)]))[0]!;
    },
    read: (kind: ReadKind, input: unknown) => (kind === "sessions.get" ? session((input as { readonly key: string }).key) : store.read(kind, input as never)),
  };
}
