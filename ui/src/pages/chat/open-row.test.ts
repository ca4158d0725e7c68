import { expect, test } from "vitest";
import { createSignal } from "../../base/signal.ts";
import type { Link } from "../../link/link.ts";
import { createOpenRow, type Listed } from "./open-row.ts";
import type { SessionRow } from "./sidebar-groups.ts";

type Port = Pick<Link, "request">;

const row = (key: string, label?: string): SessionRow => ({ key, kind: "direct", ...(label === undefined ? {} : { label }) }) as SessionRow;
const listed = (...rows: readonly SessionRow[]): Listed => ({ rows, found: undefined, loaded: true });

/** A gateway that keeps sessions beyond those that are listed. */
function gateway(...kept: readonly SessionRow[]) {
  const asked: string[] = [];
  const rows = [...kept];
  const request = (_method: string, { search }: { readonly search: string }): Promise<unknown> => {
    asked.push(search);
    return Promise.resolve({ sessions: rows.filter(({ key }) => key.includes(search)) });
  };
  return { asked, rows, link: { request: request as unknown as Port["request"] } };
}

const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

test("a session that is not among the listed ones is asked for by its key, and no other is taken for it", async () => {
  const { link, asked } = gateway(row("agent:main:web:old:thread:1", "no"), row("agent:main:web:old", "Long ago"));
  using open = createOpenRow(link, createSignal(listed(row("agent:main:main"))));
  open.follow("agent:main:web:old");
  await settled();
  expect([open.state.value?.label, asked]).toEqual(["Long ago", ["agent:main:web:old"]]);
});

test("a listed session is not asked for", async () => {
  const { link, asked } = gateway();
  using open = createOpenRow(link, createSignal(listed(row("agent:main:main", "Balcony"))));
  open.follow("agent:main:main");
  await settled();
  expect([open.state.value?.label, asked]).toEqual(["Balcony", []]);
});

test("what changes is read again with the list, and an answer that comes too late is not shown", async () => {
  const { link, rows, asked } = gateway(row("a", "before"), row("b", "other"));
  const sessions = createSignal<Listed>({ ...listed(), loaded: false });
  using open = createOpenRow(link, sessions);
  open.follow("a");
  expect(asked).toEqual([]);
  sessions.set(listed());
  await settled();
  expect(open.state.value?.label).toBe("before");
  rows[0] = row("a", "after");
  sessions.set(listed());
  await settled();
  expect(open.state.value?.label).toBe("after");
  open.follow("b");
  open.follow("a");
  open.follow("b");
  await settled();
  expect(open.state.value?.label).toBe("other");
  sessions.set(listed(row("b", "listed")));
  expect(open.state.value?.label).toBe("listed");
});
