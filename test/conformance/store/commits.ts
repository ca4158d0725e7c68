import { expect, test } from "vitest";
import { delivery, message, type World } from "./world.ts";

export function commits(world: World): void {
  test("the writes of one commit happen together, over all areas, or not at all", async () => {
    const store = world.store();
    const { id } = await store.write("inbox.accept", message());
    await expect(
      store.commit([
        ["turns.start", { id: "t1", sessionKey: "k", agentId: "main" }],
        ["outbox.add", { rows: [delivery()] }],
        ["sessions.put", { key: "k", agentId: "main", entry: { sessionId: "s", updatedAt: 1 } }],
        ["inbox.settle", { ids: [id, 999], outcome: "answered" }],
      ]),
    ).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect(await store.read("turns.get", { id: "t1" })).toBeUndefined();
    expect(await store.read("sessions.get", { key: "k" })).toBeUndefined();
    expect(await store.read("outbox.counts", {})).toMatchObject({ pending: 0 });
    expect(await store.read("inbox.get", { id })).toMatchObject({ state: "pending" });
  });

  test("one commit gives one result per write, in order", async () => {
    const [accepted, started, step] = await world.store().commit([
      ["inbox.accept", message()],
      ["turns.start", { id: "t1", sessionKey: "k", agentId: "main" }],
      ["journal.append", { turnId: "t1", kind: "note", data: null }],
    ]);
    expect([accepted.duplicate, started, step.step]).toEqual([false, undefined, 0]);
  });

  test("a refused commit does not take the commits beside it with it", async () => {
    const store = world.store();
    const results = await Promise.allSettled([
      store.write("turns.start", { id: "a", sessionKey: "k", agentId: "main" }),
      store.write("turns.start", { id: "a", sessionKey: "k", agentId: "main" }),
      store.write("turns.start", { id: "b", sessionKey: "k", agentId: "main" }),
      store.commit([
        ["turns.start", { id: "c", sessionKey: "k", agentId: "main" }],
        ["turns.start", { id: "b", sessionKey: "k", agentId: "main" }],
      ]),
    ]);
    expect(results.map((result) => (result.status === "rejected" ? (result.reason as { code: string }).code : "ok"))).toEqual([
      "ok",
      "CONFLICT",
      "ok",
      "CONFLICT",
    ]);
    expect((await store.read("turns.unfinished", {})).map((turn) => turn.id)).toEqual(["a", "b"]);
  });

  test("64 writers at once lose nothing, and each sees its own order", async () => {
    const store = world.store();
    await Promise.all(
      Array.from({ length: 64 }, async (_, writer) => {
        for (let n = 0; n < 20; n += 1)
          await store.write("inbox.accept", message({ conversation: `c${writer}`, messageId: `m${n}`, sessionKey: `k${writer}` }));
      }),
    );
    const again = await world.reopen();
    expect(await again.read("inbox.counts", {})).toMatchObject({ pending: 64 * 20 });
    for (const writer of [0, 31, 63]) {
      const rows = await again.read("inbox.open", { sessionKey: `k${writer}` });
      expect(rows.map((row) => row.messageId)).toEqual(Array.from({ length: 20 }, (_, n) => `m${n}`));
    }
  });

  test("commits happen in the order of their calls, and what was acknowledged is seen by the next read", async () => {
    const store = world.store();
    const puts = Array.from({ length: 50 }, (_, n) => store.write("sessions.put", { key: "k", agentId: "main", entry: { sessionId: "s", updatedAt: n } }));
    expect((await Promise.all(puts)).map(({ version }) => version)).toEqual(Array.from({ length: 50 }, (_, n) => n + 1));
    expect(await store.read("sessions.get", { key: "k" })).toMatchObject({ version: 50, entry: { updatedAt: 49 } });
    expect((await store.read("sessions.list", {})).rows).toHaveLength(1);
  });

  test("data that cannot be stored is refused alone", async () => {
    const store = world.store();
    const bad = store.write("inbox.accept", message({ payload: { f: () => 1 } }));
    const good = store.write("inbox.accept", message({ messageId: "m2" }));
    await expect(bad).rejects.toMatchObject({ code: "INVALID_INPUT" });
    expect(await good).toMatchObject({ duplicate: false });
  });

  test("closing waits for what was accepted and refuses what comes later", async () => {
    const store = world.store();
    const last = Array.from({ length: 30 }, (_, n) => store.write("inbox.accept", message({ messageId: `m${n}` })));
    const closing = store[Symbol.asyncDispose]();
    await expect(store.write("inbox.accept", message({ messageId: "late" }))).rejects.toMatchObject({ code: "UNAVAILABLE" });
    await expect(store.read("inbox.counts", {})).rejects.toMatchObject({ code: "UNAVAILABLE" });
    await closing;
    expect(await Promise.all(last)).toHaveLength(30);
    expect(store.health().state).toBe("closed");
    expect(await (await world.reopen()).read("inbox.counts", {})).toMatchObject({ pending: 30 });
  });
}
