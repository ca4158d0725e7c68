import { expect, test } from "vitest";
import { DAY, delivery, message, type World } from "./world.ts";

export function coordination(world: World): void {
  test("a lease has one owner until it expires, and its tokens only grow", async () => {
    const store = world.store();
    const first = await store.write("leases.acquire", { name: "lane:a", owner: "p1", ttlMs: 1000 });
    expect(first).toMatchObject({ acquired: true });
    expect(await store.write("leases.acquire", { name: "lane:a", owner: "p2", ttlMs: 1000 })).toEqual({
      acquired: false,
      owner: "p1",
      expiresAt: world.clock.now() + 1000,
    });
    const token = first.acquired ? first.token : 0;
    world.clock.advance(900);
    await store.write("leases.renew", { name: "lane:a", token, ttlMs: 1000 });
    world.clock.advance(900);
    expect(await store.read("leases.expired", { now: world.clock.now() })).toEqual([]);
    world.clock.advance(100);
    expect(await store.read("leases.expired", { now: world.clock.now(), prefix: "lane:" })).toMatchObject([{ name: "lane:a", owner: "p1" }]);
    const second = await store.write("leases.acquire", { name: "lane:a", owner: "p2", ttlMs: 1000 });
    expect(second.acquired && second.token > token).toBe(true);
    await expect(store.write("leases.renew", { name: "lane:a", token, ttlMs: 1000 })).rejects.toMatchObject({ code: "FENCED" });
    expect(await store.write("leases.release", { name: "lane:a", token })).toEqual({ released: false });
    expect(await store.read("leases.list", { owner: "p2" })).toMatchObject([{ name: "lane:a" }]);
  });

  test("of 64 who ask at once one gets the lease", async () => {
    const asked = Array.from({ length: 64 }, (_, n) => world.store().write("leases.acquire", { name: "l", owner: `p${n}`, ttlMs: 1000 }));
    expect((await Promise.all(asked)).filter(({ acquired }) => acquired)).toHaveLength(1);
  });

  test("a writer whose lease moved on is refused with everything it wanted to write", async () => {
    const store = world.store();
    const lease = await store.write("leases.acquire", { name: "l", owner: "p1", ttlMs: 10 });
    const fence = { lease: "l", token: lease.acquired ? lease.token : 0 };
    await store.commit([["turns.start", { id: "a", sessionKey: "k", agentId: "main" }]], { fence });
    world.clock.advance(10);
    await store.write("leases.acquire", { name: "l", owner: "p2", ttlMs: 10 });
    await expect(store.write("turns.end", { id: "a", outcome: "answered" }, { fence })).rejects.toMatchObject({ code: "FENCED" });
    await expect(store.commit([], { fence: { lease: "never", token: 1 } })).rejects.toMatchObject({ code: "FENCED" });
    expect(await store.read("turns.get", { id: "a" })).toMatchObject({ state: "running" });
  });

  test("a token that was given back is worth nothing", async () => {
    const store = world.store();
    const lease = await store.write("leases.acquire", { name: "l", owner: "p1", ttlMs: 10_000 });
    const fence = { lease: "l", token: lease.acquired ? lease.token : 0 };
    expect(await store.write("leases.release", { name: "l", token: fence.token })).toEqual({ released: true });
    await expect(store.write("turns.start", { id: "a", sessionKey: "k", agentId: "main" }, { fence })).rejects.toMatchObject({ code: "FENCED" });
    expect(await store.read("leases.list", {})).toEqual([]);
    expect(await store.write("leases.acquire", { name: "l", owner: "p2", ttlMs: 10 })).toMatchObject({ acquired: true });
  });

  test("a request under one key is done once and its answer repeated, over restarts", async () => {
    const store = world.store();
    const begin = { scope: "send", key: "k", payloadHash: "h" };
    expect(await store.write("idempotency.begin", begin)).toEqual({ status: "new" });
    expect(await store.write("idempotency.begin", begin)).toEqual({ status: "running", since: world.clock.now() });
    expect(await store.write("idempotency.begin", { ...begin, payloadHash: "other" })).toEqual({ status: "mismatch" });
    expect(await store.write("idempotency.begin", { ...begin, scope: "agent", about: { name: "x" } })).toEqual({ status: "new" });
    expect(await store.read("idempotency.running", { scope: "agent" })).toEqual([{ key: "k", about: { name: "x" } }]);
    await store.write("idempotency.complete", { scope: "send", key: "k", result: { runId: 1 } });
    const again = await world.reopen();
    expect([await again.read("idempotency.running", { scope: "send" }), await again.read("idempotency.running", { scope: "agent" })]).toMatchObject([
      [],
      [{ key: "k" }],
    ]);
    expect(await again.write("idempotency.begin", begin)).toEqual({ status: "replay", result: { runId: 1 } });
    await expect(again.write("idempotency.complete", { scope: "send", key: "k", result: 2 })).rejects.toMatchObject({ code: "CONFLICT" });
    world.clock.advance(7 * DAY - 1);
    expect(await again.write("idempotency.begin", begin)).toMatchObject({ status: "replay" });
    world.clock.advance(1);
    expect(await again.write("idempotency.begin", begin)).toEqual({ status: "new" });
    await again.write("idempotency.abandon", { scope: "send", key: "k" });
    expect(await again.read("idempotency.get", { scope: "send", key: "k" })).toBeUndefined();
  });
}

export function retention(world: World): void {
  test("what has ended goes after its time, what waits stays", async () => {
    const store = world.store();
    const done: number[] = [];
    for (let n = 0; n < 60; n += 1) done.push((await store.write("inbox.accept", message({ messageId: `m${n}` }))).id);
    await store.write("inbox.settle", { ids: done.slice(0, 50), outcome: "answered" });
    const { ids } = await store.write("outbox.add", { rows: [delivery(), delivery()] });
    await store.write("outbox.mark", { id: ids[0]!, state: "failed", why: "x" });
    await store.write("turns.start", { id: "old", sessionKey: "k", agentId: "main" });
    await store.write("turns.start", { id: "runs", sessionKey: "k", agentId: "main" });
    for (const turnId of ["old", "runs"]) await store.write("journal.append", { turnId, kind: "note", data: 1 });
    await store.write("turns.end", { id: "old", outcome: "answered" });
    await store.write("idempotency.begin", { scope: "s", key: "k", payloadHash: "h" });

    world.clock.advance(7 * DAY - 1);
    expect(await store.maintain({ policy: { inboxMs: 0, outboxMs: 0, turnsMs: 0 }, budgetMs: 60_000 })).toMatchObject({ done: true, deleted: {} });
    world.clock.advance(2);
    const report = await store.maintain({ policy: { inboxMs: 0, outboxMs: 0, turnsMs: 0 }, budgetMs: 60_000 });
    expect(report).toMatchObject({ done: true, deleted: { inbox: 50, outbox: 1, journal: 1, turns: 1, idempotency: 1 } });
    expect(await store.read("inbox.counts", {})).toMatchObject({ pending: 10 });
    expect((await store.read("journal.steps", { turnId: "runs" })).length).toBe(1);
  });

  test("maintenance does not stop commits, and numbers never come twice", async () => {
    const store = world.store();
    const rows = await Promise.all(Array.from({ length: 600 }, (_, n) => store.write("inbox.accept", message({ messageId: `m${n}`, text: "x".repeat(2000) }))));
    await store.write("inbox.settle", { ids: rows.map((row) => row.id), outcome: "silent" });
    world.clock.advance(30 * DAY);
    const maintaining = store.maintain({ budgetMs: 60_000 });
    const meanwhile = await Promise.all(Array.from({ length: 20 }, (_, n) => store.write("inbox.accept", message({ messageId: `n${n}` }))));
    const report = await maintaining;
    expect(report.done).toBe(true);
    expect(report.deleted["inbox"]).toBeGreaterThanOrEqual(599);
    expect(Math.min(...meanwhile.map((row) => row.id))).toBeGreaterThan(Math.max(...rows.map((row) => row.id)));
  });

  test("a short budget ends early and says so", async () => {
    const store = world.store();
    const rows = await Promise.all(Array.from({ length: 600 }, (_, n) => store.write("inbox.accept", message({ messageId: `m${n}`, text: "x".repeat(3000) }))));
    await store.write("inbox.settle", { ids: rows.map((row) => row.id), outcome: "silent" });
    world.clock.advance(30 * DAY);
    expect(await store.maintain({ budgetMs: 0 })).toMatchObject({ done: false });
  });
}
