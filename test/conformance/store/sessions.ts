import { expect, test } from "vitest";
import type { Store } from "../../../src/store/index.ts";
import { message, type World } from "./world.ts";

export function sessions(world: World): void {
  const put = (key: string, over: Record<string, unknown> = {}, agentId = "main") =>
    world.store().write("sessions.put", { key, agentId, entry: { sessionId: `id-${key}`, updatedAt: 1, ...over } });

  test("an entry keeps every field it came with, and changes only over the version that was read", async () => {
    const store = world.store();
    expect(
      await store.write("sessions.put", {
        key: "k",
        agentId: "main",
        version: 0,
        entry: { sessionId: "s", updatedAt: 1, origin: { from: "é" }, unknown: [1] },
      }),
    ).toEqual({ version: 1 });
    await expect(store.write("sessions.put", { key: "k", agentId: "main", version: 0, entry: { sessionId: "s", updatedAt: 1 } })).rejects.toMatchObject({
      code: "CONFLICT",
    });
    expect(await store.write("sessions.patch", { key: "k", version: 1, patch: { label: "work", unknown: null } })).toEqual({
      key: "k",
      agentId: "main",
      version: 2,
      entry: { sessionId: "s", updatedAt: 1, origin: { from: "é" }, label: "work" },
    });
    await expect(store.write("sessions.patch", { key: "k", version: 1, patch: {} })).rejects.toMatchObject({ code: "CONFLICT", details: { actual: 2 } });
    await expect(store.write("sessions.patch", { key: "none", patch: {} })).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(store.write("sessions.put", { key: "x", agentId: "main", entry: { updatedAt: 1 } as never })).rejects.toMatchObject({ code: "INVALID_INPUT" });
    expect(await (await world.reopen()).read("sessions.get", { key: "k" })).toMatchObject({ version: 2, entry: { label: "work" } });
  });

  test("long fields that rarely change are part of an entry like all others", async () => {
    const store = world.store();
    const report = { text: "x".repeat(5000) };
    await store.write("sessions.put", { key: "k", agentId: "main", entry: { sessionId: "s", updatedAt: 1, systemPromptReport: report, skillsSnapshot: [1] } });
    const whole = { sessionId: "s", updatedAt: 2, systemPromptReport: report, skillsSnapshot: [1] };
    expect(await store.write("sessions.patch", { key: "k", patch: { updatedAt: 2 } })).toMatchObject({ entry: whole });
    expect((await store.read("sessions.get", { key: "k" }))?.entry).toEqual(whole);
    await store.write("sessions.merge", { key: "k", patch: { skillsSnapshot: null, systemPromptReport: { text: "new" } } });
    expect((await store.read("sessions.get", { key: "k" }))?.entry).toEqual({ sessionId: "s", updatedAt: 2, systemPromptReport: { text: "new" } });
    await store.write("sessions.rename", { from: "k", to: "l" });
    expect((await store.read("sessions.get", { key: "l" }))?.entry["systemPromptReport"]).toEqual({ text: "new" });
    await store.write("sessions.put", { key: "l", agentId: "main", entry: { sessionId: "s", updatedAt: 3 } });
    expect((await store.read("sessions.get", { key: "l" }))?.entry).toEqual({ sessionId: "s", updatedAt: 3 });
    await store.write("sessions.merge", { key: "l", patch: { skillsSnapshot: [2] } });
    await store.write("sessions.delete", { key: "l" });
    await store.write("sessions.put", { key: "l", agentId: "main", entry: { sessionId: "s2", updatedAt: 4 } });
    expect((await store.read("sessions.get", { key: "l" }))?.entry).toEqual({ sessionId: "s2", updatedAt: 4 });
  });

  test("of two writers with the same version one wins", async () => {
    await put("k");
    const results = await Promise.allSettled([1, 2].map((n) => world.store().write("sessions.patch", { key: "k", version: 1, patch: { n } })));
    expect(results.map((result) => result.status)).toEqual(["fulfilled", "rejected"]);
  });

  test("a list is filtered, searched, ordered and cut into pages", async () => {
    await put("agent:main:main", { updatedAt: 10, channel: "webchat", label: "Home" });
    await put("agent:main:telegram:group:1", { updatedAt: 30, channel: "telegram", chatType: "group", subject: "Garden 100%" });
    await put("agent:work:main", { updatedAt: 20, lastChannel: "slack", spawnedBy: "agent:main:main" }, "work");
    const list = async (filter: Parameters<Store["read"]>[1]) => (await world.store().read("sessions.list", filter as never)).rows.map((row) => row.key);
    expect(await list({})).toEqual(["agent:main:telegram:group:1", "agent:work:main", "agent:main:main"]);
    expect(await list({ order: "oldest", limit: 1, offset: 1 })).toEqual(["agent:work:main"]);
    expect(await list({ order: "key" })).toEqual(["agent:main:main", "agent:main:telegram:group:1", "agent:work:main"]);
    expect(await list({ agentId: "work" })).toEqual(["agent:work:main"]);
    expect(await list({ channel: "slack" })).toEqual(["agent:work:main"]);
    expect(await list({ chatType: "group" })).toEqual(["agent:main:telegram:group:1"]);
    expect(await list({ activeSince: 20 })).toEqual(["agent:main:telegram:group:1", "agent:work:main"]);
    expect(await list({ label: "Home" })).toEqual(["agent:main:main"]);
    expect(await list({ spawnedBy: "agent:main:main" })).toEqual(["agent:work:main"]);
    expect(await list({ search: "gARDEN 100%" })).toEqual(["agent:main:telegram:group:1"]);
    expect(await list({ search: "hom" })).toEqual(["agent:main:main"]);
    expect(await list({ search: "100_" })).toEqual([]);
    expect(await list({ keyPrefix: "agent:main:" })).toHaveLength(2);
    expect((await world.store().read("sessions.list", { limit: 1 })).total).toBe(3);
    expect(await world.store().read("sessions.bySessionId", { sessionId: "id-agent:work:main" })).toHaveLength(1);
    expect(await world.store().read("sessions.byLabel", { label: "Home", agentId: "work" })).toEqual([]);
  });

  test("sessions of automation are listed and counted apart from chats", async () => {
    const chats = ["agent:main:main", "agent:cron:main", "agent:main:telegram:direct:cron:1", "global"];
    const others = ["agent:main:cron:1", "agent:work:hook:gmail:1", "agent:main:subagent:1", "agent:main:heartbeat"];
    for (const [at, key] of [...chats, ...others].entries()) await put(key, { updatedAt: 100 - at });
    const list = async (automation: boolean, more = {}) => {
      const { rows, total } = await world.store().read("sessions.list", { automation, ...more });
      return [rows.map(({ key }) => key), total];
    };
    expect(await list(false)).toEqual([chats, 4]);
    expect(await list(true, { limit: 2 })).toEqual([others.slice(0, 2), 4]);
    expect(await list(false, { limit: 2, offset: 1, except: ["global"] })).toEqual([chats.slice(1, 3), 3]);
  });

  test("a key is renamed with what hangs on it, unless the new one is taken", async () => {
    const store = world.store();
    await put("old");
    await put("child", { spawnedBy: "old" });
    await put("taken");
    await store.write("extensions.set", { sessionKey: "old", pluginId: "p", namespace: "n", value: 1 });
    const { id } = await store.write("inbox.accept", message({ sessionKey: "old" }));
    await expect(store.write("sessions.rename", { from: "old", to: "taken" })).rejects.toMatchObject({ code: "CONFLICT" });
    expect(await store.write("sessions.rename", { from: "old", to: "new", version: 1 })).toEqual({ version: 2 });
    expect(await store.read("sessions.get", { key: "old" })).toBeUndefined();
    expect(await store.read("sessions.get", { key: "new" })).toMatchObject({ entry: { sessionId: "id-old" } });
    expect(await store.read("sessions.get", { key: "child" })).toMatchObject({ entry: { spawnedBy: "new" } });
    expect(await store.read("extensions.get", { sessionKey: "new" })).toHaveLength(1);
    expect(await store.read("inbox.get", { id })).toMatchObject({ sessionKey: "new" });
    expect(await store.write("sessions.delete", { key: "new" })).toEqual({ deleted: true });
    expect(await store.write("sessions.delete", { key: "new" })).toEqual({ deleted: false });
  });
}
