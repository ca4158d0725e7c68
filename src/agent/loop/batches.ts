/** Most calls that run at the same time. */
const MAX_AT_ONCE = 8;

/**
 * The calls of one answer in groups that are carried out one after the other: neighbours that may run side by side share a group, every other call has
 * one of its own.
 */
export function batchesOf<C>(calls: readonly C[], isParallel: (call: C) => boolean): readonly (readonly C[])[] {
  const batches: C[][] = [];
  let open: C[] | undefined;
  for (const call of calls) {
    const parallel = isParallel(call);
    if (parallel && open) open.push(call);
    else batches.push((open = [call]));
    if (!parallel) open = undefined;
  }
  return batches;
}

/**
 * Starts the items in their order, a few at a time, and yields their results in the same order. When one of them fails, it throws once all that were
 * started have ended.
 */
export async function* sideBySide<T, R>(items: readonly T[], run: (item: T) => Promise<R>): AsyncGenerator<R> {
  const results = items.map((item) => ({ item, ...Promise.withResolvers<R>() }));
  const settled = Promise.allSettled(results.map(({ promise }) => promise));
  // The workers share one iterator: each item is started by one of them.
  const next = results.values();
  async function work(): Promise<void> {
    for (const { item, resolve, reject } of next) await run(item).then(resolve, reject);
  }
  for (let started = 0; started < Math.min(MAX_AT_ONCE, items.length); started += 1) void work();
  try {
    for (const { promise } of results) yield await promise;
  } finally {
    await settled;
  }
}
