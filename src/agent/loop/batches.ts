/** Most calls that run at the same time. */
const MAX_AT_ONCE = 8;

/**
 * The calls of one answer in groups that are carried out one after the other: neighbours that may run side by side share a group, every other call has
 * one of its own.
 */
export function batchesOf<C>(calls: readonly C[], isParallel: (call: C) => boolean): readonly (readonly C[])[] {
  const batches: C[][] = [];
  let open = false;
  for (const call of calls) {
    const parallel = isParallel(call);
    if (parallel && open) batches.at(-1)!.push(call);
    else batches.push([call]);
    open = parallel;
  }
  return batches;
}

/**
 * Starts the items in their order, a few at a time, and yields their results in the same order. When one of them fails, it throws once all that were
 * started have ended.
 */
export async function* sideBySide<T, R>(items: readonly T[], run: (item: T) => Promise<R>): AsyncGenerator<R> {
  const results = items.map(() => Promise.withResolvers<R>());
  const settled = Promise.allSettled(results.map(({ promise }) => promise));
  let next = 0;
  async function work(): Promise<void> {
    while (next < items.length) {
      const index = next;
      next += 1;
      await run(items[index]!).then(results[index]!.resolve, results[index]!.reject);
    }
  }
  for (let started = 0; started < Math.min(MAX_AT_ONCE, items.length); started += 1) void work();
  try {
    for (const { promise } of results) yield await promise;
  } finally {
    await settled;
  }
}
