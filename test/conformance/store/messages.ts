import { expect, test } from "vitest";
import type { OutboxInput } from "../../../src/store/index.ts";
import { DAY, delivery, message, type World } from "./world.ts";

export function inbox(world: World): void {
  test("a message is accepted once, however often it arrives", async () => {
    const store = world.store();
    const first = await store.write("inbox.accept", message());
    expect(first).toMatchObject({ duplicate: false, state: "pending" });
    expect(await store.write("inbox.accept", message({ text: "again" }))).toEqual({ id: first.id, duplicate: true, state: "pending", outcome: null });
    const other = await Promise.all([
      store.write("inbox.accept", message({ channel: "slack" })),
      store.write("inbox.accept", message({ account: "second" })),
      store.write("inbox.accept", message({ conversation: "43" })),
      store.write("inbox.accept", message({ messageId: "m2" })),
    ]);
    expect(other.map(({ duplicate }) => duplicate)).toEqual([false, false, false, false]);
    await store.write("inbox.settle", { ids: [first.id], outcome: "silent", why: "heartbeat" });
    const again = await world.reopen();
    expect(await again.write("inbox.accept", message())).toEqual({ id: first.id, duplicate: true, state: "settled", outcome: "silent" });
    expect(await again.read("inbox.get", { id: first.id })).toMatchObject({
      text: "hello",
      payload: { a: [1] },
      why: "heartbeat",
      receivedAt: world.clock.now(),
    });
  });

  test("queues tell in which sessions something waits, the longest first", async () => {
    const store = world.store();
    const began = world.clock.now();
    const accept = async (messageId: string, sessionKey?: string) => (await store.write("inbox.accept", message({ messageId, sessionKey }))).id;
    await accept("m1", "agent:main:a");
    world.clock.advance(10);
    const claimed = await accept("m2", "agent:main:b");
    await accept("m3", "agent:main:b");
    await accept("m4", "agent:main:a");
    await accept("m5", undefined);
    await store.write("turns.start", { id: "t", sessionKey: "agent:main:b", agentId: "main" });
    await store.write("inbox.claim", { ids: [claimed], turnId: "t" });
    expect(await store.read("inbox.queues", { limit: 10 })).toEqual([
      { sessionKey: "agent:main:a", waiting: 2, oldestAt: began },
      { sessionKey: "agent:main:b", waiting: 1, oldestAt: began + 10 },
    ]);
    expect(await store.read("inbox.queues", { limit: 1 })).toHaveLength(1);
  });

  test("failures are those among what ended last, newest first", async () => {
    const store = world.store();
    const ids: number[] = [];
    for (const [messageId, outcome] of [["m1", "failed"], ["m2", "silent"], ["m3", "failed"], ["m4", undefined]] as const) {
      const { id } = await store.write("inbox.accept", message({ messageId }));
      ids.push(id);
      world.clock.advance(1);
      if (outcome) await store.write("inbox.settle", { ids: [id], outcome, why: `why ${messageId}` });
    } // prettier-ignore
    const failed = async (among: number, limit = 10) => (await store.read("inbox.failures", { among, limit })).map(({ id }) => id);
    expect(await failed(10)).toEqual([ids[2], ids[0]]);
    expect(await failed(2)).toEqual([ids[2]]);
    expect(await failed(10, 1)).toEqual([ids[2]]);
    expect((await store.read("inbox.failures", { among: 1, limit: 1 }))[0]).toEqual({
      id: ids[2],
      channel: "telegram",
      sessionKey: "agent:main:main",
      turnId: null,
      why: "why m3",
      at: world.clock.now() - 1,
    });
  });

  test("an input is unsaid until it has ended or its turn has written it, and its text is cut", async () => {
    const store = world.store();
    const key = "agent:main:main";
    const unsaid = async (chars = 100) => (await store.read("inbox.untranscribed", { sessionKey: key, chars, limit: 10 })).map(({ messageId }) => messageId);
    const payload = { kind: "channel", event: { sender: { name: "Ada" }, media: [{}, {}] } };
    const ids = [];
    for (const messageId of ["m1", "m2", "m3"]) ids.push((await store.write("inbox.accept", message({ messageId, payload, sender: "7" }))).id);
    await store.write("inbox.accept", message({ messageId: "other", sessionKey: "agent:main:other" }));
    await store.write("inbox.accept", {
      channel: "gateway",
      account: "runs",
      conversation: "runs",
      messageId: "r1",
      kind: "message",
      text: "",
      sessionKey: key,
    });
    expect(await unsaid()).toEqual(["m1", "m2", "m3", "r1"]);
    expect((await store.read("inbox.untranscribed", { sessionKey: key, chars: 2, limit: 1 }))[0]).toEqual({
      id: ids[0],
      channel: "telegram",
      messageId: "m1",
      kind: "message",
      text: "he",
      sender: "7",
      senderName: "Ada",
      via: null,
      files: 2,
      turnId: null,
      receivedAt: world.clock.now(),
    });
    for (const id of ["t1", "t2"]) await store.write("turns.start", { id, sessionKey: key, agentId: "main" });
    await store.commit([
      ["inbox.claim", { ids: [ids[0]!], turnId: "t1" }],
      ["inbox.claim", { ids: [ids[1]!], turnId: "t2" }],
      ["journal.append", { turnId: "t1", kind: "note", data: { resumed: 1 } }],
    ]);
    expect(await unsaid()).toEqual(["m1", "m2", "m3", "r1"]);
    await store.write("journal.append", { turnId: "t1", kind: "note", data: { said: true } });
    await store.write("journal.append", { turnId: "t2", kind: "model.result", data: {} });
    expect(await unsaid()).toEqual(["m3", "r1"]);
    await store.write("inbox.settle", { ids: [ids[2]!], outcome: "refused" });
    expect(await unsaid()).toEqual(["r1"]);
  });

  test("what plugins said about an input is kept with its end, beside its payload", async () => {
    const store = world.store();
    const [kept, bare] = await store.commit([
      ["inbox.accept", message()],
      ["inbox.accept", message({ messageId: "bare", payload: undefined })],
    ]);
    const hooks = [{ hook: "before_dispatch", pluginId: 'gu"ard', ms: 1.5 }];
    await store.write("inbox.settle", { ids: [kept.id, bare.id], outcome: "refused", why: "stopped", hooks });
    expect(await store.read("inbox.get", { id: kept.id })).toMatchObject({ payload: { a: [1], hooks }, outcome: "refused" });
    expect(await store.read("inbox.get", { id: bare.id })).toMatchObject({ payload: { hooks } });
    await expect(store.write("inbox.settle", { ids: [kept.id], outcome: "failed", hooks: [{}] })).rejects.toMatchObject({ code: "CONFLICT" });
    expect(await store.read("inbox.get", { id: kept.id })).toMatchObject({ payload: { hooks } });
  });

  test("an input is claimed by one turn and has one end", async () => {
    const store = world.store();
    const { id } = await store.write("inbox.accept", message());
    await store.write("inbox.claim", { ids: [id], turnId: "t1" });
    await store.write("inbox.claim", { ids: [id], turnId: "t1" });
    await expect(store.write("inbox.claim", { ids: [id], turnId: "t2" })).rejects.toMatchObject({ code: "CONFLICT", message: expect.stringContaining("t1") });
    await store.write("inbox.release", { ids: [id] });
    await store.write("inbox.claim", { ids: [id], turnId: "t2" });
    await store.write("inbox.settle", { ids: [id], outcome: "answered" });
    for (const [kind, input] of [
      ["inbox.settle", { ids: [id], outcome: "failed" }],
      ["inbox.claim", { ids: [id], turnId: "t2" }],
      ["inbox.release", { ids: [id] }],
      ["inbox.assign", { id, sessionKey: "x", agentId: "y" }],
    ] as const) {
      await expect(store.commit([[kind, input] as never])).rejects.toMatchObject({ code: "CONFLICT" });
    }
    expect(await store.read("inbox.ofTurn", { turnId: "t2" })).toMatchObject([{ id, outcome: "answered" }]);
    await expect(store.write("inbox.settle", { ids: [777], outcome: "failed" })).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  test("what has no end is listed by session, state and age", async () => {
    const store = world.store();
    const a = await store.write("inbox.accept", message({ messageId: "a" }));
    world.clock.advance(1000);
    const b = await store.write("inbox.accept", message({ messageId: "b" }));
    const c = await store.write("inbox.accept", message({ messageId: "c", sessionKey: undefined }));
    await store.write("inbox.assign", { id: c.id, sessionKey: "agent:main:other", agentId: "main" });
    await store.write("inbox.claim", { ids: [b.id], turnId: "t" });
    const ids = async (input: Parameters<typeof store.read<"inbox.open">>[1]) => (await store.read("inbox.open", input)).map((row) => row.id);
    expect(await ids({})).toEqual([a.id, b.id, c.id]);
    expect(await ids({ sessionKey: "agent:main:other" })).toEqual([c.id]);
    expect(await ids({ state: "claimed" })).toEqual([b.id]);
    expect(await ids({ until: world.clock.now() - 1 })).toEqual([a.id]);
    expect(await ids({ limit: 2 })).toEqual([a.id, b.id]);
    expect(await store.read("inbox.counts", {})).toEqual({ pending: 2, claimed: 1, oldestAt: world.clock.now() - 1000 });
    expect((await store.read("inbox.recent", { limit: 2 })).map((row) => row.id)).toEqual([c.id, b.id]);
  });

  test("a platform's message id leads to what became of the message", async () => {
    const store = world.store();
    const { id } = await store.write("inbox.accept", message());
    await store.write("inbox.accept", message({ channel: "slack" }));
    await store.write("inbox.settle", { ids: [id], outcome: "refused", why: "not on the allowlist" });
    expect(await store.read("inbox.find", { messageId: "m1" })).toHaveLength(2);
    expect(await store.read("inbox.find", { messageId: "m1", channel: "telegram" })).toMatchObject([{ outcome: "refused", why: "not on the allowlist" }]);
    expect(await store.read("inbox.find", { messageId: "nothing" })).toEqual([]);
  });

  test("blocked content is overwritten in the commit that ends it", async () => {
    const store = world.store();
    const { id } = await store.write("inbox.accept", message({ text: "the secret", payload: { raw: "the secret" } }));
    await store.commit([
      ["inbox.redact", { id, text: "[blocked]" }],
      ["inbox.settle", { ids: [id], outcome: "refused" }],
    ]);
    await store.checkpoint({ truncate: true });
    expect(await store.read("inbox.get", { id })).toMatchObject({ text: "[blocked]", payload: null, outcome: "refused" });
  });
}

export function outbox(world: World): void {
  const add = async (over: Partial<OutboxInput> = {}) => (await world.store().write("outbox.add", { rows: [delivery(over)] })).ids[0]!;

  test("a delivery goes from pending over attempting to sent, with its receipt", async () => {
    const store = world.store();
    const id = await add();
    expect(await store.read("outbox.due", { now: world.clock.now() })).toMatchObject([
      { id, nonce: "n1", payload: { text: "hi" }, state: "pending", attempts: 0 },
    ]);
    expect(await store.write("outbox.mark", { id, state: "attempting" })).toEqual({ attempts: 1, repeats: 0 });
    expect(await store.read("outbox.due", { now: world.clock.now() + DAY })).toEqual([]);
    await store.write("outbox.mark", { id, state: "sent", receipt: { messageId: "9" } });
    expect(await (await world.reopen()).read("outbox.get", { id })).toMatchObject({
      state: "sent",
      receipt: { messageId: "9" },
      settledAt: world.clock.now(),
      nextAttemptAt: null,
    });
  });

  test("only the legal ways are open", async () => {
    const store = world.store();
    const states = ["pending", "attempting", "sent", "unknown", "failed", "suppressed"] as const;
    const legal: Record<string, readonly string[]> = {
      pending: ["attempting", "failed", "suppressed"],
      attempting: ["sent", "unknown", "failed", "pending"],
      unknown: ["attempting", "sent", "failed", "suppressed"],
      sent: [],
      failed: [],
      suppressed: [],
    };
    const ways: Record<string, readonly string[]> = {
      pending: [],
      attempting: ["attempting"],
      unknown: ["attempting", "unknown"],
      sent: ["attempting", "sent"],
      failed: ["failed"],
      suppressed: ["suppressed"],
    };
    const mark = (id: number, state: string) => store.write("outbox.mark", { id, state, why: "w", nextAttemptAt: 1 } as never);
    for (const from of states) {
      for (const to of states) {
        const id = await add();
        for (const state of ways[from]!) await mark(id, state);
        const result = await mark(id, to).then(
          () => "ok",
          (error: { code: string }) => error.code,
        );
        expect([from, to, result]).toEqual([from, to, legal[from]!.includes(to) ? "ok" : "CONFLICT"]);
      }
    }
    await expect(mark(9999, "sent")).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  test("what may have arrived is sent again once, or freely where the platform drops repeats", async () => {
    const store = world.store();
    const id = await add();
    await store.write("outbox.mark", { id, state: "attempting" });
    const again = await world.reopen();
    expect(await again.write("outbox.recover", { why: "the process died" })).toEqual([id]);
    expect(await again.read("outbox.due", { now: world.clock.now() })).toMatchObject([{ id, state: "unknown", why: "the process died" }]);
    expect(await again.write("outbox.mark", { id, state: "attempting" })).toEqual({ attempts: 2, repeats: 1 });
    await again.write("outbox.mark", { id, state: "unknown", why: "timeout", nextAttemptAt: world.clock.now() });
    await expect(again.write("outbox.mark", { id, state: "attempting" })).rejects.toMatchObject({ code: "CONFLICT" });
    expect(await again.write("outbox.mark", { id, state: "attempting", nonceHonoured: true })).toEqual({ attempts: 3, repeats: 2 });
  });

  test("a row waits for its time, keeps its order, and fails when it is too old", async () => {
    const store = world.store();
    const now = world.clock.now();
    const { ids } = await store.write("outbox.add", {
      rows: [delivery({ turnId: "t" }), delivery({ turnId: "t", notBefore: now + 100 }), delivery({ channel: "slack", expiresAt: now + 50 })],
    });
    const due = async (at: number, channel?: string) => (await store.read("outbox.due", { now: at, channel })).map((row) => row.id);
    expect(await due(now)).toEqual([ids[0], ids[2]]);
    expect(await due(now + 100)).toEqual(ids);
    expect(await due(now + 100, "slack")).toEqual([ids[2]]);
    await store.write("outbox.mark", { id: ids[0]!, state: "attempting" });
    await store.write("outbox.mark", { id: ids[0]!, state: "pending", nextAttemptAt: now + 500, why: "429" });
    expect(await store.read("outbox.nextDue", {})).toBe(now);
    world.clock.advance(50);
    expect(await store.write("outbox.expire", {})).toEqual([ids[2]]);
    expect(await store.read("outbox.get", { id: ids[2]! })).toMatchObject({ state: "failed", why: "expired" });
    expect(await store.read("outbox.nextDue", {})).toBe(now + 100);
    expect(await store.read("outbox.counts", {})).toEqual({ pending: 2, attempting: 0, unknown: 0, oldestAt: now });
    expect((await store.read("outbox.ofTurn", { turnId: "t" })).map((row) => row.id)).toEqual([ids[0], ids[1]]);
    expect((await store.read("outbox.recent", { state: "failed" })).map((row) => row.id)).toEqual([ids[2]]);
  });

  test("deliveries that failed are listed, newest first, and nothing else", async () => {
    const store = world.store();
    const { ids } = await store.write("outbox.add", {
      rows: [delivery(), delivery({ account: "second", sessionKey: "s" }), delivery({ suppressed: "no" }), delivery()],
    });
    await store.write("outbox.mark", { id: ids[0]!, state: "failed", why: "gone" });
    world.clock.advance(5);
    await store.write("outbox.mark", { id: ids[1]!, state: "failed", why: "blocked" });
    const failures = await store.read("outbox.failures", { among: 10, limit: 10 });
    expect(failures.map(({ id }) => id)).toEqual([ids[1], ids[0]]);
    expect(failures[0]).toEqual({
      id: ids[1],
      channel: "telegram",
      account: "second",
      target: "42",
      turnId: null,
      sessionKey: "s",
      why: "blocked",
      at: world.clock.now(),
    });
    expect(await store.read("outbox.failures", { among: 1, limit: 10 })).toHaveLength(1);
  });

  test("what is never sent is kept with its reason, and is not due", async () => {
    const store = world.store();
    const [id, sent] = (await store.write("outbox.add", { rows: [delivery({ suppressed: "a hook said no" }), delivery()] })).ids;
    expect(await store.read("outbox.get", { id: id! })).toMatchObject({
      state: "suppressed",
      why: "a hook said no",
      attempts: 0,
      nextAttemptAt: null,
      settledAt: world.clock.now(),
    });
    expect((await store.read("outbox.due", { now: world.clock.now() + DAY })).map((row) => row.id)).toEqual([sent]);
    await expect(store.write("outbox.mark", { id: id!, state: "attempting" })).rejects.toMatchObject({ code: "CONFLICT" });
    expect(await store.read("outbox.counts", {})).toMatchObject({ pending: 1 });
  });

  test("rows are read on from the last one that was seen", async () => {
    const store = world.store();
    const { ids } = await store.write("outbox.add", { rows: [delivery(), delivery(), delivery()] });
    const seen = async (after: number) => (await store.read("outbox.due", { now: world.clock.now(), after })).map((row) => row.id);
    expect(await seen(0)).toEqual(ids);
    expect(await seen(ids[1]!)).toEqual([ids[2]]);
    expect(await seen(ids[2]!)).toEqual([]);
  });

  test("messages are counted by steps of time and channel, however old the ones before them are", async () => {
    const store = world.store();
    const start = world.clock.now();
    const accept = (messageId: string, channel = "telegram", kind = "message") => store.write("inbox.accept", message({ messageId, channel, kind }));
    for (let at = 0; at < 40; at += 1) {
      await accept(`old${at}`);
      world.clock.advance(1000);
    }
    const since = world.clock.now();
    const first = await accept("m1");
    await accept("m2", "slack");
    await accept("tick", "slack", "cron");
    await store.write("inbox.settle", { ids: [first.id], outcome: "answered" });
    world.clock.advance(2500);
    await accept("m3");
    expect(await store.read("inbox.arrivals", { since, stepMs: 1000 })).toEqual([
      { from: since, channel: "slack", count: 1, answered: 0, failed: 0 },
      { from: since, channel: "telegram", count: 1, answered: 1, failed: 0 },
      { from: since + 2000, channel: "telegram", count: 1, answered: 0, failed: 0 },
    ]);
    expect(await store.read("inbox.arrivals", { since: world.clock.now() + 1, stepMs: 1000 })).toEqual([]);
    expect(await store.read("inbox.lastBefore", { before: since })).toBe(since - 1000);
    expect(await store.read("inbox.lastBefore", { before: start })).toBeNull();
  });

  test("model calls and scheduled runs are counted by steps of time, with those that failed", async () => {
    const store = world.store();
    const since = world.clock.now();
    const call = { sessionKey: "s", agentId: "main", provider: "p", model: "m", input: 1, output: 1, cacheRead: 0, cacheWrite: 0, cost: 0, durationMs: 1 };
    await store.write("usage.add", { ...call, at: since - 1 });
    await store.write("usage.add", call);
    await store.write("usage.add", { ...call, failed: true });
    world.clock.advance(3000);
    await store.write("usage.add", call);
    expect(await store.read("usage.outcomes", { since, stepMs: 1000 })).toEqual([
      { from: since, calls: 2, failed: 1 },
      { from: since + 3000, calls: 1, failed: 0 },
    ]);
    for (const [scheduledAt, status] of [[1, "ok"], [2, "error"], [3, "skipped"]] as const) {
      await store.write("cron.slot.claim", { jobId: "j", scheduledAt });
      await store.write("cron.slot.finish", { jobId: "j", scheduledAt, status });
    } // prettier-ignore
    expect(await store.read("cron.slot.outcomes", { since, stepMs: 1000 })).toEqual([{ from: since + 3000, runs: 2, failed: 1 }]);
  });
}
