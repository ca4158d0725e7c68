import type { MethodResult } from "../../../protocol/index.ts";
import type { Store, UsageTotals } from "../../../store/index.ts";
import { NO_USAGE, totalsOf, type Totals } from "./totals.ts";

type BySession = NonNullable<MethodResult<"sessions.usage">["aggregates"]["bySession"]>;
type Row = UsageTotals & { readonly sessionKey: string; readonly kept: boolean };

function added(one: Totals, other: Totals): Totals {
  return Object.fromEntries(Object.entries(one).map(([name, value]) => [name, value + other[name as keyof Totals]])) as Totals;
}

const together = (rows: readonly Row[]): { readonly sessions: number; readonly totals: Totals } => ({
  sessions: rows.length,
  totals: rows.map(totalsOf).reduce(added, NO_USAGE),
});

const tokensOf = (row: Row): number => totalsOf(row).totalTokens;

/** What each session used: the largest by cost and by tokens one by one, the others and those that were removed together. Nothing is left out. */
export async function readBySession(
  store: Store,
  filter: { readonly fromDay: string; readonly toDay: string; readonly sessionKey?: string | undefined },
  most: number,
): Promise<BySession> {
  const all = await store.read("usage.bySession", filter);
  const kept = all.filter((row) => row.kept);
  const largest = new Set([...kept.slice(0, most), ...kept.toSorted((a, b) => tokensOf(b) - tokensOf(a)).slice(0, most)]);
  const shown = kept.filter((row) => largest.has(row));
  const names = new Map((await store.read("sessions.names", { keys: shown.map(({ sessionKey }) => sessionKey) })).map(({ key, name }) => [key, name]));
  return {
    rows: shown.map((row) => ({ key: row.sessionKey, name: names.get(row.sessionKey) ?? row.sessionKey, count: row.calls, totals: totalsOf(row) })),
    others: together(kept.filter((row) => !largest.has(row))),
    removed: together(all.filter((row) => !row.kept)),
  };
}
