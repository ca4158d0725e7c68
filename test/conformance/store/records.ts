import { expect, test } from "vitest";
import { DAY, type World } from "./world.ts";

export function records(world: World): void {
  test("a device is paired over a request that lives for a while", async () => {
    const store = world.store();
    const ask = { kind: "device", subject: "d1", expiresAt: world.clock.now() + 100, data: { role: "operator" }, code: "ABCD" };
    expect(await store.write("pairing.request", { id: "r1", ...ask })).toMatchObject({ created: true });
    expect(await store.write("pairing.request", { id: "r2", ...ask })).toMatchObject({ created: false, request: { id: "r1" } });
    expect(await store.read("pairing.find", { kind: "device", code: "ABCD", now: world.clock.now() })).toMatchObject({ id: "r1" });
    world.clock.advance(100);
    expect(await store.read("pairing.list", { now: world.clock.now() })).toEqual([]);
    expect(await store.write("pairing.take", { id: "r1" })).toBeUndefined();
    expect(await store.write("pairing.request", { id: "r3", ...ask, expiresAt: world.clock.now() + 100 })).toMatchObject({
      created: true,
      request: { id: "r3" },
    });
    const [request] = await store.commit([
      ["pairing.take", { id: "r3" }],
      ["devices.put", { id: "d1", publicKey: "pk", data: { name: "phone" } }],
      ["devices.token.put", { deviceId: "d1", role: "operator", token: "t1", scopes: ["operator.read"] }],
    ]);
    expect(request).toMatchObject({ subject: "d1", data: { role: "operator" } });
    expect(await store.write("devices.token.put", { deviceId: "d1", role: "operator", token: "t2", scopes: [] })).toMatchObject({
      token: "t2",
      rotatedAt: world.clock.now(),
    });
    await store.write("devices.token.used", { deviceId: "d1", role: "operator" });
    expect(await store.write("devices.token.revoke", { deviceId: "d1", role: "operator" })).toEqual({ revoked: true });
    expect(await store.read("devices.tokens", { deviceId: "d1" })).toMatchObject([{ revokedAt: world.clock.now(), lastUsedAt: world.clock.now() }]);
    expect(await store.read("devices.list", {})).toMatchObject([{ id: "d1", data: { name: "phone" } }]);
    expect(await store.write("devices.delete", { id: "d1" })).toEqual({ deleted: true });
    expect(await store.read("devices.tokens", {})).toEqual([]);
  });

  test("senders are allowed by channel and account", async () => {
    const store = world.store();
    const sender = { channel: "telegram", account: "default", sender: "42" };
    expect(await store.write("allow.add", { ...sender, source: "pairing" })).toEqual({ added: true });
    expect(await store.write("allow.add", { ...sender, source: "command" })).toEqual({ added: false });
    expect(await store.read("allow.list", { channel: "telegram" })).toMatchObject([{ sender: "42", source: "pairing" }]);
    expect(await store.read("allow.list", { channel: "slack" })).toEqual([]);
    expect(await store.write("allow.remove", sender)).toEqual({ removed: true });
  });

  test("a code lets one sender in once, and none after its time", async () => {
    const store = world.store();
    const entry = { channel: "telegram", account: "work", sender: "42", source: "pairing" };
    const ask = { kind: "channel", subject: "telegram:work:42", data: {}, code: "ABCD2345" };
    await store.write("pairing.request", { id: "r1", ...ask, expiresAt: world.clock.now() + 100 });
    const tries = await Promise.all(Array.from({ length: 100 }, () => store.write("pairing.redeem", { id: "r1", ...entry })));
    expect(tries.filter((row) => row !== undefined)).toMatchObject([{ id: "r1", code: "ABCD2345" }]);
    expect(await store.read("allow.list", { account: "work" })).toMatchObject([{ sender: "42", source: "pairing" }]);
    await store.write("allow.remove", entry);
    await store.write("pairing.request", { id: "r2", ...ask, expiresAt: world.clock.now() + 100 });
    world.clock.advance(100);
    expect(await store.write("pairing.redeem", { id: "r2", ...entry })).toBeUndefined();
    expect(await store.read("allow.list", {})).toEqual([]);
  });

  test("a plugin's state belongs to its session and goes with it", async () => {
    const store = world.store();
    const set = (sessionKey: string, pluginId: string, value: unknown) => store.write("extensions.set", { sessionKey, pluginId, namespace: "n", value });
    await set("a", "p", { x: 1 });
    await set("a", "q", 2);
    await set("b", "p", 3);
    await set("b", "p", null);
    expect((await store.read("extensions.get", { sessionKey: "a" })).map((row) => [row.pluginId, row.value])).toEqual([
      ["p", { x: 1 }],
      ["q", 2],
    ]);
    expect(await store.read("extensions.get", { sessionKey: "b" })).toEqual([]);
    expect(await store.write("extensions.clear", { sessionKey: "a", pluginId: "q" })).toEqual({ values: 1, injections: 0 });
    expect(await store.write("extensions.clear", { pluginId: "p" })).toEqual({ values: 1, injections: 0 });
  });

  test("an injection reaches one turn, exactly once, and a resumed turn gets it again", async () => {
    const store = world.store();
    const inject = (id: string, over: object = {}) =>
      store.write("injections.add", { id, sessionKey: "s", pluginId: "p", placement: "prepend", text: id, ...over });
    expect(await inject("i1", { idempotencyKey: "k" })).toEqual({ id: "i1", duplicate: false });
    expect(await inject("i2", { idempotencyKey: "k" })).toEqual({ id: "i1", duplicate: true });
    await inject("i3", { expiresAt: world.clock.now() + 5 });
    await inject("i4");
    await inject("i5", { sessionKey: "other" });
    world.clock.advance(5);
    expect((await store.read("injections.waiting", { sessionKey: "s", now: world.clock.now() })).map((row) => row.id)).toEqual(["i1", "i4"]);
    expect((await store.write("injections.drain", { sessionKey: "s", turnId: "t1" })).map((row) => row.id)).toEqual(["i1", "i4"]);
    const again = await world.reopen();
    await again.write("injections.add", { id: "i6", sessionKey: "s", pluginId: "p", placement: "prepend", text: "i6" });
    // What came in between is for the next turn.
    const resumed = await again.write("injections.drain", { sessionKey: "s", turnId: "t1", again: true });
    expect(resumed.map((row) => row.text)).toEqual(["i1", "i4"]);
    expect((await again.write("injections.drain", { sessionKey: "s", turnId: "t2" })).map((row) => row.text)).toEqual(["i6"]);
    expect(await again.write("injections.drain", { sessionKey: "s", turnId: "t3" })).toEqual([]);
    expect(await again.write("extensions.clear", { sessionKey: "other" })).toEqual({ values: 0, injections: 1 });
  });

  test("an injection that someone has to hear of waits for a turn whose answer reaches someone, over a reset, and not without end", async () => {
    const store = world.store();
    const add = (id: string, payload?: object) =>
      store.write("injections.add", { id, sessionKey: "s", pluginId: "p", placement: "prepend", text: id, payload, most: 2 });
    const drain = async (turnId: string, over: object = {}) =>
      (await store.write("injections.drain", { sessionKey: "s", turnId, ...over })).map(({ id }) => id);
    await add("alert", { untilHeard: true, keep: true });
    await add("note");
    expect(await drain("t1", { unheard: true })).toEqual(["note"]);
    await store.write("extensions.clear", { sessionKey: "s", keepUnheard: true });
    expect(await drain("t2")).toEqual(["alert"]);
    await store.write("injections.release", { sessionKey: "s", turnId: "t1" });
    expect(await drain("t3")).toEqual([]);
    await store.write("injections.release", { sessionKey: "s", turnId: "t2" });
    for (const id of ["l1", "l2", "l3"]) await add(id, { untilHeard: true });
    expect(await drain("t4")).toEqual(["alert", "l2", "l3"]);
    await store.write("injections.release", { sessionKey: "s", turnId: "t4" });
    await store.write("extensions.clear", { sessionKey: "s" });
    expect(await drain("t5")).toEqual([]);
  });

  test("usage is added up by day, session, provider and model", async () => {
    const store = world.store();
    const add = (over: object) =>
      store.write("usage.add", {
        sessionKey: "s",
        agentId: "main",
        provider: "p",
        model: "m",
        input: 10,
        output: 5,
        cacheRead: 1,
        cacheWrite: 2,
        cost: 0.5,
        durationMs: 7,
        ...over,
      });
    await add({});
    await add({ model: "n", failed: true });
    world.clock.advance(DAY);
    await add({ sessionKey: "z", cost: 0.25 });
    const total = { input: 30, output: 15, cacheRead: 3, cacheWrite: 6, cost: 1.25, durationMs: 21, calls: 3, failed: 1 };
    expect(await store.read("usage.totals", { by: [] })).toMatchObject([total]);
    const days = await store.read("usage.totals", { by: ["day"] });
    expect(days.map((row) => [row.day, row.calls])).toEqual([
      ["2023-11-14", 2],
      ["2023-11-15", 1],
    ]);
    expect(await store.read("usage.totals", { by: ["sessionKey", "model"], fromDay: "2023-11-14", toDay: "2023-11-14" })).toMatchObject([
      { sessionKey: "s", model: "m", calls: 1 },
      { sessionKey: "s", model: "n", calls: 1 },
    ]);
    await add({ sender: "+4366", at: 5000 });
    await add({ sender: "+4366", at: 5999 });
    await add({ sender: "+4377", at: 6000 });
    expect(await store.read("usage.totals", { by: ["sender"], since: 5000, before: 6000 })).toMatchObject([{ sender: "+4366", calls: 2 }]);
    expect(await store.read("usage.totals", { by: [], sender: "+4377" })).toMatchObject([{ calls: 1 }]);
    expect(await store.read("usage.totals", { by: [], sessionKey: "nobody" })).toMatchObject([{ calls: 0, cost: 0 }]);
    expect(await store.read("usage.points", { sessionKey: "s", limit: 2 })).toMatchObject([{ model: "m" }, { model: "n" }]);
    await add({ turnId: "t", failed: true, at: 7000 });
    await add({ turnId: "t", model: "n", at: 7001 });
    await add({ turnId: "t", sessionKey: "other", at: 7002 });
    const calls = [
      { model: "m", failed: true, durationMs: 7, at: 7000 },
      { model: "n", failed: false, durationMs: 7, at: 7001 },
    ];
    expect(await store.read("usage.ofTurn", { sessionKey: "s", turnId: "t" })).toMatchObject(calls);
    expect(await store.read("usage.ofTurn", { sessionKey: "s", turnId: "t", since: 7001 })).toMatchObject(calls.slice(1));
    await expect(store.read("usage.totals", { by: ["1; DROP TABLE usage" as never] })).rejects.toMatchObject({ code: "INVALID_INPUT" });
  });

  test("facts about the installation are kept, the store's own are out of reach", async () => {
    const store = world.store();
    await store.write("meta.set", { key: "gateway.id", value: { a: 1 } });
    expect(await (await world.reopen()).read("meta.get", { key: "gateway.id" })).toEqual({ a: 1 });
    for (const write of ["meta.set", "meta.add"] as const)
      await expect(world.store().write(write, { key: "store.min_reader", value: 9 })).rejects.toMatchObject({ code: "INVALID_INPUT" });
    const added = await Promise.all(["a", "b", "c"].map((value) => world.store().write("meta.add", { key: "one.of.many", value })));
    expect(new Set(added).size).toBe(1);
    expect(await world.store().read("meta.get", { key: "one.of.many" })).toBe(added[0]);
    expect(await world.store().read("meta.get", { key: "nothing" })).toBeNull();
  });
}
