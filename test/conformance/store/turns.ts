import { expect, test } from "vitest";
import { message, type World } from "./world.ts";

export function turns(world: World): void {
  test("a turn runs, is resumed and ends once", async () => {
    const store = world.store();
    await store.write("turns.start", { id: "t1", sessionKey: "k", agentId: "main", detail: { lane: 1 } });
    expect(await store.write("turns.resume", { id: "t1" })).toEqual({ resumptions: 1 });
    expect(await store.write("turns.resume", { id: "t1" })).toEqual({ resumptions: 2 });
    await store.write("turns.note", { id: "t1", detail: { lane: 2 } });
    expect((await (await world.reopen()).read("turns.unfinished", {}))[0]).toMatchObject({ id: "t1", resumptions: 2, detail: { lane: 2 } });
    await world.store().write("turns.end", { id: "t1", outcome: "answered" });
    for (const write of [
      ["turns.end", { id: "t1", outcome: "failed" }],
      ["turns.resume", { id: "t1" }],
      ["turns.note", { id: "t1", detail: 1 }],
      ["journal.append", { turnId: "t1", kind: "note", data: 1 }],
    ] as const) {
      await expect(world.store().commit([write])).rejects.toMatchObject({ code: "CONFLICT" });
    }
    await expect(world.store().write("turns.end", { id: "t9", outcome: "failed" })).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect(await world.store().read("turns.unfinished", {})).toEqual([]);
    expect(await world.store().read("turns.ofSession", { sessionKey: "k" })).toMatchObject([{ id: "t1", outcome: "answered" }]);
  });

  test("turns are found by the time they ran at, with who had them begun", async () => {
    const store = world.store();
    const at: number[] = [];
    for (let n = 0; n < 40; n += 1) {
      at.push(world.clock.now());
      await store.write("turns.start", { id: `t${n}`, sessionKey: "k", agentId: "main" });
      if (n === 5) {
        const payload = { event: { sender: { name: "Ada" } } };
        const { id } = await store.write("inbox.accept", message({ sender: "7", payload, sessionKey: "k" }));
        await store.write("inbox.claim", { ids: [id], turnId: "t5" });
      }
      world.clock.advance(10);
      if (n !== 39) await store.write("turns.end", { id: `t${n}`, outcome: "answered" });
      world.clock.advance(10);
    }
    await store.write("turns.start", { id: "x", sessionKey: "other", agentId: "main" });
    const spans = async (from: number, until: number, limit = 10) =>
      (await store.read("turns.spans", { sessionKey: "k", from, until, limit })).map(({ id }) => id);
    expect(await spans(at[20]! + 5, at[20]! + 5)).toEqual(["t20"]);
    expect(await spans(at[20]! + 15, at[20]! + 15)).toEqual([]);
    expect(await spans(at[3]!, at[6]!)).toEqual(["t6", "t5", "t4", "t3"]);
    expect(await spans(at[39]! + 1000, at[39]! + 2000)).toEqual(["t39"]);
    expect(await spans(0, at[39]!, 2)).toEqual(["t39", "t38"]);
    const found = await store.read("turns.spans", { sessionKey: "k", from: at[5]!, until: at[5]!, limit: 1 });
    expect(found).toEqual([{ id: "t5", startedAt: at[5], endedAt: at[5]! + 10, channel: "telegram", kind: "message", sender: "7", senderName: "Ada" }]);
  });

  test("steps are numbered in each turn and read in order", async () => {
    const store = world.store();
    for (const id of ["a", "b"]) await store.write("turns.start", { id, sessionKey: "k", agentId: "main" });
    for (let n = 0; n < 5; n += 1) expect(await store.write("journal.append", { turnId: "a", kind: "model.result", data: { n } })).toEqual({ step: n });
    expect(await store.write("journal.append", { turnId: "b", kind: "note", data: "x" })).toEqual({ step: 0 });
    expect((await store.read("journal.steps", { turnId: "a", after: 1, limit: 2 })).map((row) => row.data)).toEqual([{ n: 2 }, { n: 3 }]);
    expect(await store.read("turns.get", { id: "a" })).toMatchObject({ steps: 5 });
  });

  test("an intent without a result is found after a restart", async () => {
    const store = world.store();
    for (const id of ["a", "b", "done"]) await store.write("turns.start", { id, sessionKey: "k", agentId: "main" });
    for (const turnId of ["a", "b", "done"]) await store.write("journal.append", { turnId, kind: "tool.intent", callId: "c1", data: { tool: "exec" } });
    await store.write("journal.append", { turnId: "a", kind: "tool.result", callId: "c1", data: 1 });
    await store.write("journal.append", { turnId: "a", kind: "tool.intent", callId: "c2", data: { tool: "write" } });
    await store.write("turns.end", { id: "done", outcome: "cancelled" });
    const again = await world.reopen();
    expect((await again.read("journal.dangling", {})).map((row) => [row.turnId, row.callId])).toEqual([
      ["a", "c2"],
      ["b", "c1"],
    ]);
    expect(await again.read("journal.dangling", { turnId: "done" })).toMatchObject([{ callId: "c1", data: { tool: "exec" } }]);
  });
}

export function work(world: World): void {
  test("an approval is decided once, before it expires", async () => {
    const store = world.store();
    const now = world.clock.now();
    for (const id of ["a", "b", "c"])
      await store.write("approvals.request", {
        id,
        kind: "exec",
        request: { command: "ls" },
        expiresAt: now + (id === "b" ? 10 : 1000),
        turnId: id === "c" ? "t" : undefined,
      });
    expect(await store.write("approvals.decide", { id: "a", decision: "allow-once", by: "me" })).toMatchObject({ state: "decided", decision: "allow-once" });
    await expect(store.write("approvals.decide", { id: "a", decision: "deny" })).rejects.toMatchObject({
      code: "CONFLICT",
      details: { decision: "allow-once" },
    });
    world.clock.advance(10);
    await expect(store.write("approvals.decide", { id: "b", decision: "deny" })).rejects.toMatchObject({ code: "CONFLICT" });
    expect(await store.write("approvals.expire", {})).toEqual(["b"]);
    expect(await store.read("approvals.pending", { kind: "exec" })).toMatchObject([{ id: "c", request: { command: "ls" } }]);
    expect(await store.write("approvals.cancel", { turnId: "t" })).toEqual(["c"]);
    expect(await store.read("approvals.get", { id: "b" })).toMatchObject({ state: "expired" });
    await expect(store.write("approvals.decide", { id: "zz", decision: "deny" })).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  test("a subagent run is followed to its one end", async () => {
    const store = world.store();
    await store.write("subagents.add", { runId: "r", childSessionKey: "c", requesterSessionKey: "p", data: { task: "look" }, archiveAt: 100 });
    await store.write("subagents.patch", { runId: "r", patch: { state: "running", startedAt: 1 } });
    await store.write("subagents.patch", { runId: "r", patch: { state: "ended", outcome: "ok", endedAt: 2 } });
    await expect(store.write("subagents.patch", { runId: "r", patch: { outcome: "error" } })).rejects.toMatchObject({ code: "CONFLICT" });
    expect(await store.read("subagents.list", { unannounced: true, unfinished: false })).toMatchObject([
      { runId: "r", announced: false, data: { task: "look" } },
    ]);
    expect(await store.write("subagents.patch", { runId: "r", patch: { announced: true, archiveAt: null } })).toMatchObject({
      announced: true,
      outcome: "ok",
      archiveAt: null,
    });
    expect(await store.read("subagents.list", { archiveUntil: 1000 })).toEqual([]);
    expect(await store.read("subagents.list", { requesterSessionKey: "p", childSessionKey: "c" })).toHaveLength(1);
    expect(await store.write("subagents.delete", { runId: "r" })).toEqual({ deleted: true });
  });

  const LIMITS = { children: 5, total: 12, failures: 3, pauseMs: 1000 };
  const spawned = (runId: string, requesterSessionKey: string) =>
    world
      .store()
      .commit([
        ["inbox.accept", { channel: "gateway", account: "runs", conversation: "runs", messageId: runId, kind: "subagent", text: "x" }],
        ["subagents.spawn", { runId, childSessionKey: `c-${runId}`, requesterSessionKey, data: { task: "x" }, limits: LIMITS }],
      ])
      .then(
        () => "added",
        (error: { code: string; details: { limit?: string } }) => error.details.limit ?? error.code,
      );
  const countOf = (list: readonly string[], word: string): number => list.filter((one) => one === word).length;

  test("of 200 children that are started at once only as many are there as the limits allow, each with its run", async () => {
    const one = await Promise.all(Array.from({ length: 200 }, (_, n) => spawned(`one-${n}`, "p")));
    expect([countOf(one, "added"), countOf(one, "children")]).toEqual([5, 195]);
    const many = await Promise.all(Array.from({ length: 200 }, (_, n) => spawned(`many-${n}`, `p${n % 50}`)));
    expect([countOf(many, "added"), countOf(many, "total")]).toEqual([7, 193]);
    expect(await world.store().read("subagents.list", { unfinished: true })).toHaveLength(12);
    expect(await world.store().read("inbox.open", {})).toHaveLength(12);
    expect(await world.store().read("subagents.pending", {})).toEqual({ open: 12, archiveAt: null });
  });

  test("a child has one end, and what was announced is not announced again", async () => {
    const store = world.store();
    await spawned("r", "p");
    expect(await store.write("subagents.end", { runId: "r", outcome: "killed", error: "killed", archiveMs: 50 })).toEqual({ ended: true });
    expect(await store.write("subagents.end", { runId: "r", outcome: "ok" })).toEqual({ ended: false });
    expect(await store.write("subagents.end", { runId: "none", outcome: "ok" })).toEqual({ ended: false });
    const now = world.clock.now();
    expect(await store.read("subagents.get", { runId: "r" })).toMatchObject({
      outcome: "killed",
      endedAt: now,
      archiveAt: now + 50,
      data: { error: "killed" },
    });
    // One that was stopped is not announced.
    await expect(store.write("subagents.announced", { runIds: ["r"] })).rejects.toMatchObject({ code: "CONFLICT" });
    await spawned("done", "p");
    await store.write("subagents.end", { runId: "done", outcome: "ok" });
    await store.write("subagents.announced", { runIds: ["done"] });
    await expect(store.write("subagents.announced", { runIds: ["done"] })).rejects.toMatchObject({ code: "CONFLICT" });
    await expect(store.write("subagents.replace", { runId: "r", by: "s", data: {} })).rejects.toMatchObject({ code: "CONFLICT" });
    // One that was stopped starts nothing.
    expect(await spawned("below", "c-r")).toBe("killed");
  });

  test("a child that has ended can be stopped until it was announced, once", async () => {
    const store = world.store();
    const stopped = (runId: string) => store.write("subagents.end", { runId, outcome: "killed", orUnannounced: true });
    for (const runId of ["waits", "reported"]) {
      await spawned(runId, "p");
      await store.write("subagents.end", { runId, outcome: "ok", startedAt: 7 });
    }
    await store.write("subagents.announced", { runIds: ["reported"] });
    expect([await stopped("waits"), await stopped("waits"), await stopped("reported")]).toEqual([{ ended: true }, { ended: false }, { ended: false }]);
    expect(await store.read("subagents.get", { runId: "waits" })).toMatchObject({ outcome: "killed", startedAt: 7, announced: false });
    expect(await store.read("subagents.get", { runId: "reported" })).toMatchObject({ outcome: "ok" });
  });

  test("children that fail in a row stop further ones for a while; one that succeeds ends the row", async () => {
    const store = world.store();
    for (const [at, outcome] of ["error", "timeout", "ok", "error", "error", "timeout"].entries()) {
      world.clock.advance(10);
      expect(await spawned(`r${at}`, "p")).toBe("added");
      await store.write("subagents.end", { runId: `r${at}`, outcome: outcome as "ok" });
    }
    expect(await spawned("next", "p")).toBe("failures");
    expect(await spawned("other", "q")).toBe("added");
    world.clock.advance(1000);
    expect(await spawned("later", "p")).toBe("added");
  });

  test("a child goes on under another run", async () => {
    const store = world.store();
    await spawned("r", "p");
    await store.write("subagents.replace", { runId: "r", by: "s", data: { task: "y" } });
    expect(await store.read("subagents.get", { runId: "r" })).toBeUndefined();
    expect(await store.read("subagents.get", { runId: "s" })).toMatchObject({ childSessionKey: "c-r", state: "queued", data: { task: "y" } });
  });

  test("a cron slot is claimed once, no matter which process asks and how often", async () => {
    const store = world.store();
    const claims = await Promise.all(Array.from({ length: 20 }, (_, n) => store.write("cron.slot.claim", { jobId: "j", scheduledAt: 1000, owner: `p${n}` })));
    expect(claims.filter(({ claimed }) => claimed)).toHaveLength(1);
    expect(claims[5]!.slot.owner).toBe("p0");
    const again = await world.reopen();
    expect(await again.read("cron.slot.running", {})).toMatchObject([{ jobId: "j", scheduledAt: 1000 }]);
    await again.write("cron.slot.finish", { jobId: "j", scheduledAt: 1000, status: "ok", detail: { summary: "done" } });
    expect(await again.write("cron.slot.claim", { jobId: "j", scheduledAt: 1000 })).toMatchObject({
      claimed: false,
      slot: { state: "finished", status: "ok" },
    });
    await expect(again.write("cron.slot.finish", { jobId: "j", scheduledAt: 1000, status: "error" })).rejects.toMatchObject({ code: "CONFLICT" });
    expect(await again.write("cron.slot.missed", { jobId: "j", scheduledAt: [1000, 2000, 3000] })).toEqual([2000, 3000]);
    expect(await again.write("cron.slot.claim", { jobId: "j", scheduledAt: 2000 })).toMatchObject({ claimed: false, slot: { state: "missed" } });
    expect((await again.read("cron.slot.list", { jobId: "j", limit: 2 })).map((slot) => slot.scheduledAt)).toEqual([3000, 2000]);
    expect((await again.read("cron.slot.list", { jobId: "j", before: 2000 })).map((slot) => slot.scheduledAt)).toEqual([1000]);
  });

  test("cron jobs are listed by their next time and changed over the version that was read", async () => {
    const store = world.store();
    const put = (id: string, nextRunAt: number | null, enabled = true) => store.write("cron.job.put", { id, job: { name: id }, enabled, nextRunAt });
    await put("late", 200);
    await put("soon", 100);
    await put("off", null, false);
    const list = async (input: object) => (await store.read("cron.job.list", input)).map((row) => row.id);
    expect(await list({})).toEqual(["soon", "late", "off"]);
    expect(await list({ enabled: true, dueUntil: 100 })).toEqual(["soon"]);
    await store.write("cron.job.next", { id: "soon", nextRunAt: 300 });
    expect(await list({ enabled: true })).toEqual(["late", "soon"]);
    await expect(store.write("cron.job.put", { id: "soon", job: {}, enabled: true, nextRunAt: 1, version: 9 })).rejects.toMatchObject({ code: "CONFLICT" });
    expect(await store.read("cron.job.get", { id: "off" })).toMatchObject({ enabled: false, job: { name: "off" }, version: 1 });
    expect(await store.write("cron.job.delete", { id: "off" })).toEqual({ deleted: true });
    await expect(store.write("cron.job.next", { id: "off", nextRunAt: 1 })).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  test("what is due of a cron job is claimed, skipped and missed in one write that plans its next time", async () => {
    const store = world.store();
    const due = { id: "j", nextRunAt: 4000, missed: [1000], skipped: [2000], run: [3000], why: "busy" };
    await expect(store.write("cron.job.due", due)).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect(await store.read("cron.job.earliest", {})).toBeNull();
    await store.write("cron.job.put", { id: "j", job: {}, enabled: true, nextRunAt: 1000 });
    expect(await store.read("cron.job.earliest", {})).toBe(1000);
    expect(await store.write("cron.job.due", due)).toEqual({ claimed: [3000] });
    expect(await store.read("cron.job.earliest", {})).toBe(4000);
    expect((await store.read("cron.slot.list", { jobId: "j" })).map(({ scheduledAt, state, status }) => [scheduledAt, state, status])).toEqual([
      [3000, "running", null],
      [2000, "finished", "skipped"],
      [1000, "missed", null],
    ]);
    // After the clock was set back: what was missed may run, what ran or was skipped does not.
    expect(await store.write("cron.job.due", { ...due, missed: [], skipped: [], run: [1000, 2000, 3000] })).toEqual({ claimed: [1000] });
    await store.write("cron.job.put", { id: "k", job: {}, enabled: true, nextRunAt: 10 });
    expect((await store.read("cron.job.list", { enabled: true, limit: 1 })).map(({ id }) => id)).toEqual(["k"]);
  });
}
