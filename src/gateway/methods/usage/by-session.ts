import type { MethodResult } from "../../../protocol/index.ts";
import type { Store, UsageOfMany } from "../../../store/index.ts";
import { totalsOf, type Totals } from "./totals.ts";

type BySession = NonNullable<MethodResult<"sessions.usage">["aggregates"]["bySession"]>;

const together = ({ sessions, ...sums }: UsageOfMany): { readonly sessions: number; readonly totals: Totals } => ({ sessions, totals: totalsOf(sums) });

/** What each session used: the largest by cost and by tokens one by one, the others and those that were removed together. Nothing is left out. */
export async function readBySession(
  store: Store,
  filter: { readonly fromDay: string; readonly toDay: string; readonly sessionKey?: string | undefined },
  most: number,
): Promise<BySession> {
  const { rows, others, removed } = await store.read("usage.bySession", { ...filter, most });
  const names = new Map((await store.read("sessions.names", { keys: rows.map(({ sessionKey }) => sessionKey) })).map(({ key, name }) => [key, name]));
  return {
    rows: rows.map((row) => ({ key: row.sessionKey, name: names.get(row.sessionKey) ?? row.sessionKey, count: row.calls, totals: totalsOf(row) })),
    others: together(others),
    removed: together(removed),
  };
}
