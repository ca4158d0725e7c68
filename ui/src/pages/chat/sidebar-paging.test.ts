import { expect, test } from "vitest";
import type { SessionRow } from "./sidebar-groups.ts";
import { createPagedList, FIRST, withNewest, type ListSessions } from "./sidebar-paging.ts";

const row = (n: number, updatedAt = n): SessionRow => ({ key: `k${String(n).padStart(4, "0")}`, kind: "direct", updatedAt });
const keys = (rows: readonly SessionRow[]): readonly string[] => rows.map(({ key }) => key);

/** A gateway with sessions, newest first, that counts what it is asked. */
function gateway(count: number) {
  const rows = Array.from({ length: count }, (_, at) => row(count - at));
  const asked: number[] = [];
  const list: ListSessions = (limit, { cursor }) => {
    asked.push(limit);
    const from = cursor === undefined ? 0 : rows.findIndex(({ key }) => key === cursor) + 1;
    const sessions = rows.slice(from, from + limit);
    const next = from + limit < rows.length ? sessions.at(-1)!.key : undefined;
    const defaults = { modelProvider: null, model: null, contextTokens: null };
    return Promise.resolve({ ts: 0, path: "", count: sessions.length, total: rows.length, defaults, sessions, ...(next === undefined ? {} : { next }) });
  };
  return { rows, asked, list };
}

test("a long list is read page by page, each session once, and what is new costs one page", async () => {
  const { rows, asked, list } = gateway(1000);
  const paged = createPagedList(list, {});
  await paged.refresh();
  expect(paged.now.rows).toHaveLength(FIRST);
  while (await paged.more());
  expect(keys(paged.now.rows)).toEqual(keys(rows));
  asked.length = 0;
  // One from far back is used again.
  const [old] = rows.splice(900, 1);
  rows.unshift({ ...old!, updatedAt: 5000 });
  await paged.refresh();
  expect(asked).toEqual([200]);
  expect(keys(paged.now.rows)).toEqual(keys(rows));
});

test("two calls for more at once read one page", async () => {
  const { asked, list } = gateway(1000);
  const paged = createPagedList(list, {});
  await paged.refresh();
  expect(await Promise.all([paged.more(), paged.more()])).toEqual([true, false]);
  expect(asked).toEqual([FIRST, 200]);
});

test("what left the newest is gone, what is older stays, and what was dropped is not listed", async () => {
  const known = { rows: [row(9), row(8), row(7), row(3)], total: 20, next: "k0003" };
  const page = { sessions: [row(9), row(7)], total: 19, next: "k0007" };
  expect(withNewest(known, page)).toEqual({ rows: [row(9), row(7), row(3)], total: 19, next: "k0003" });
  expect(withNewest(known, { sessions: [row(9)], total: 1 })).toEqual({ rows: [row(9)], total: 1, next: undefined });
  const { list } = gateway(3);
  const paged = createPagedList(list, {});
  await paged.refresh();
  paged.drop(["k0002", "none"]);
  expect([keys(paged.now.rows), paged.now.total]).toEqual([["k0003", "k0001"], 2]);
});

test("reading all again brings as many as before", async () => {
  const { rows, list } = gateway(500);
  const paged = createPagedList(list, {});
  await paged.refresh();
  await paged.more();
  rows.splice(100, 1);
  await paged.reload();
  expect(keys(paged.now.rows)).toEqual(keys(rows.slice(0, paged.now.rows.length)));
  expect(paged.now.rows.length).toBeGreaterThanOrEqual(FIRST + 200);
});
