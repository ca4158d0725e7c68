import { describe, expect, test } from "vitest";
import { CONFIGURED, fakeChannel, fakeManager, message, quiet } from "./fake-channel.fixture.ts";

const two = { channels: { fake: { accounts: { a: { token: "1" }, b: { token: "2" } } } } };

describe("starting", () => {
  test("every enabled and configured account is started, once", async () => {
    const fake = fakeChannel();
    const manager = fakeManager([fake.plugin], {
      channels: { fake: { accounts: { on: { token: "1" }, off: { token: "2", enabled: false }, bare: {} } } },
    });
    await manager.channels.start();
    await manager.channels.start();
    await quiet();
    expect(fake.runs.map(({ ctx }) => ctx.accountId)).toEqual(["on"]);
    expect(fake.runs[0]!.ctx).toMatchObject({ account: { token: "1" }, abortSignal: { aborted: false } });
    expect(manager.health()).toEqual(["fake:on starting"]);
  });

  test("a plugin that throws does not keep others from starting", async () => {
    const good = fakeChannel();
    const bad = fakeChannel({
      id: "bad",
      more: {
        config: {
          listAccountIds: () => ["default"],
          resolveAccount: () => ({ accountId: "default", enabled: true, token: "" }),
          isConfigured: () => {
            throw new Error("no settings");
          },
        },
      },
    });
    const worse = fakeChannel({
      id: "worse",
      more: {
        config: {
          listAccountIds: () => {
            throw new Error("cannot count");
          },
          resolveAccount: () => ({}) as never,
        },
      },
    });
    const manager = fakeManager([worse.plugin, bad.plugin, good.plugin]);
    await manager.channels.start();
    await quiet();
    expect(good.runs).toHaveLength(1);
    expect(manager.health()).toContainEqual(expect.stringMatching(/^bad:default degraded: restarts in 5s: .*no settings/));
    expect(manager.lines.some(({ message }) => message.includes("cannot count"))).toBe(true);
  });

  test("a send-only channel has nothing to run, and is ok", async () => {
    const { plugin } = fakeChannel();
    const manager = fakeManager([{ ...plugin, gateway: {} }]);
    await manager.channels.start();
    expect(manager.health()).toEqual(["fake:default ok"]);
  });

  test("the plugin's copy of the configuration is its own", async () => {
    const fake = fakeChannel();
    const manager = fakeManager([fake.plugin]);
    await manager.channels.start();
    await quiet();
    (fake.runs[0]!.ctx.cfg.channels!["fake"] as { token: string }).token = "changed";
    expect(CONFIGURED.channels!["fake"]).toEqual({ token: "t" });
  });
});

describe("stopping", () => {
  test("the signal fires, stopAccount is called, and stop waits until the connection has settled", async () => {
    const order: string[] = [];
    const fake = fakeChannel({ stops: false, gateway: { stopAccount: async () => void order.push("stopAccount") } });
    const manager = fakeManager([fake.plugin]);
    await manager.channels.start();
    await quiet();
    const { ctx, resolve } = fake.runs[0]!;
    ctx.abortSignal.addEventListener("abort", () => order.push("signal"));
    const stopped = manager.channels.stopAccount("fake").then(() => order.push("stopped"));
    await quiet();
    expect(order).toEqual(["signal", "stopAccount"]);
    resolve();
    await stopped;
    expect(order).toEqual(["signal", "stopAccount", "stopped"]);
    expect(manager.health()).toEqual(["fake:default down: stopped manually"]);
    expect(manager.channels.accounts()[0]!.snapshot).toMatchObject({ running: false, connected: false, lastStopAt: manager.clock.now() });
  });

  test("what the channel warns about is logged when the account starts, and not again with every restart", async () => {
    const fake = fakeChannel({ more: { security: { collectWarnings: () => ["- FAKE allow lists: these entries match nobody: ada"] } } });
    const manager = fakeManager([fake.plugin]);
    await manager.channels.start();
    await quiet();
    const warned = () => manager.lines.filter(({ message }) => message.includes("match nobody: ada")).map(({ level }) => level);
    expect(warned()).toEqual(["warn"]);
    fake.runs[0]!.reject(new Error("lost"));
    await quiet();
    manager.clock.advance(600_000);
    await quiet();
    expect([fake.runs.length, warned().length]).toEqual([2, 1]);
  });

  test.each([
    ["a function", (stop: () => Promise<void>) => stop],
    ["an object with stop", (stop: () => Promise<void>) => ({ stop })],
  ])("%s that startAccount gave runs until the signal and is called then, and waited for", async (_what, given) => {
    const fake = fakeChannel({ stops: false });
    const manager = fakeManager([fake.plugin]);
    const closing = Promise.withResolvers<void>();
    let called = 0;
    await manager.channels.start();
    await quiet();
    fake.runs[0]!.resolve(given(() => ((called += 1), closing.promise)));
    await quiet();
    manager.clock.advance(600_000);
    await quiet();
    expect([called, fake.runs.length]).toEqual([0, 1]);
    let stopped = false;
    const stopping = manager.channels.stopAccount("fake").then(() => (stopped = true));
    await quiet();
    expect([called, stopped]).toEqual([1, false]);
    closing.resolve();
    await stopping;
    expect(called).toBe(1);
  });

  test("a connection that does not stop in 10 s is logged as an error, and nothing is started in its place until it ends", async () => {
    const fake = fakeChannel({ stops: false });
    const manager = fakeManager([fake.plugin]);
    await manager.channels.start();
    await quiet();
    const restarting = manager.channels.restart("fake").catch((error: unknown) => error);
    await quiet();
    manager.clock.advance(10_000);
    expect(await restarting).toMatchObject({ code: "CONFLICT", message: expect.stringContaining("connection 1 has not ended") });
    expect(manager.health()).toEqual(["fake:default down: did not stop"]);
    expect(manager.lines.filter(({ level }) => level === "error").map(({ message }) => message)).toEqual([
      expect.stringContaining("did not stop within 10000 ms"),
    ]);
    await expect(manager.channels.startAccount("fake")).rejects.toMatchObject({ code: "CONFLICT" });
    expect(fake.runs).toHaveLength(1);
    fake.runs[0]!.resolve();
    await quiet();
    expect([fake.runs.length, fake.open()]).toEqual([2, 1]);
  });

  test("a stopped account is not started when its old connection finally ends", async () => {
    const fake = fakeChannel({ stops: false });
    const manager = fakeManager([fake.plugin]);
    await manager.channels.start();
    await quiet();
    const stopping = manager.channels.stopAccount("fake");
    await quiet();
    manager.clock.advance(10_000);
    await stopping;
    fake.runs[0]!.resolve();
    await quiet();
    expect(fake.runs).toHaveLength(1);
    expect(manager.health()).toEqual(["fake:default down: stopped manually"]);
  });

  test("a stopAccount that hangs or throws does not delay a connection that has ended", async () => {
    const hangs = fakeChannel({ gateway: { stopAccount: () => new Promise(() => {}) } });
    const throws = fakeChannel({ id: "throws", gateway: { stopAccount: () => Promise.reject(new Error("no")) } });
    const manager = fakeManager([hangs.plugin, throws.plugin], { channels: { fake: { token: "t" }, throws: { token: "t" } } });
    await manager.channels.start();
    await quiet();
    await manager.channels.stopAccount("throws");
    const stopping = manager.channels.stopAccount("fake");
    await quiet();
    manager.clock.advance(10_000);
    await stopping;
    expect(manager.health()).toEqual(["fake:default down: stopped manually", "throws:default down: stopped manually"]);
  });

  test("disposing stops all at once, and nothing starts afterwards", async () => {
    const fake = fakeChannel();
    const manager = fakeManager([fake.plugin], two);
    await manager.channels.start();
    await quiet();
    await manager.channels[Symbol.asyncDispose]();
    expect([fake.runs.length, fake.open()]).toEqual([2, 0]);
    await manager.channels.start();
    await manager.channels.reload(["channels.fake"]);
    await expect(manager.channels.startAccount("fake", "a")).rejects.toMatchObject({ code: "UNAVAILABLE" });
    expect(fake.runs).toHaveLength(2);
  });

  test("operations run one after the other: never two connections of one account", async () => {
    const fake = fakeChannel();
    const manager = fakeManager([fake.plugin]);
    let most = 0;
    const watch = {
      ...fake.plugin.gateway,
      startAccount: (ctx: never) => {
        const run = fake.plugin.gateway!.startAccount!(ctx);
        most = Math.max(most, fake.open());
        return run;
      },
    };
    manager.plugins[0] = { ...fake.plugin, gateway: watch };
    const { channels } = manager;
    await Promise.all([channels.start(), channels.restart("fake"), channels.startAccount("fake"), channels.stopAccount("fake"), channels.restart("fake")]);
    await quiet();
    expect([most, fake.open()]).toEqual([1, 1]);
  });
});

describe("a connection that ends by itself", () => {
  test("is started again after 5 s, then 10 s, 20 s … up to 5 minutes, 10 times, and stays down then", async () => {
    const fake = fakeChannel();
    const manager = fakeManager([fake.plugin]);
    await manager.channels.start();
    await quiet();
    const delays: number[] = [];
    for (let restart = 1; restart <= 10; restart += 1) {
      fake.runs.at(-1)!.reject(new Error(`lost ${restart}`));
      await quiet();
      let waited = 0;
      for (; fake.runs.length === restart && waited < 400; waited += 1) {
        manager.clock.advance(1000);
        await quiet();
      }
      delays.push(waited);
    }
    expect(delays).toEqual([5, 10, 20, 40, 80, 160, 300, 300, 300, 300]);
    expect(manager.channels.accounts()[0]!.snapshot).toMatchObject({ reconnectAttempts: 10, running: true });
    fake.runs.at(-1)!.reject(new Error("lost for good"));
    await quiet();
    manager.clock.advance(3_600_000);
    await quiet();
    expect(fake.runs).toHaveLength(11);
    expect(manager.health()).toEqual(["fake:default down: gave up after 10 restarts: lost for good"]);
    await manager.channels.startAccount("fake");
    await quiet();
    expect(fake.runs).toHaveLength(12);
  });

  test("the delay varies by a tenth, and is not shorter than the platform asks for", async () => {
    const fake = fakeChannel();
    const manager = fakeManager([fake.plugin], CONFIGURED, { random: { float: () => 0 } });
    await manager.channels.start();
    await quiet();
    fake.runs[0]!.reject(new Error("lost"));
    await quiet();
    expect(manager.health()[0]).toContain("restarts in 4s");
    manager.clock.advance(4500);
    await quiet();
    fake.runs[1]!.reject(Object.assign(new Error("slow down"), { delivery: { state: "retry", retryAfterMs: 120_000 } }));
    await quiet();
    expect(manager.health()[0]).toContain("restarts in 2m");
  });

  test("after a run of a minute the delays start over", async () => {
    const fake = fakeChannel();
    const manager = fakeManager([fake.plugin]);
    await manager.channels.start();
    await quiet();
    for (const ranFor of [0, 0, 60_000]) {
      manager.clock.advance(ranFor);
      fake.runs.at(-1)!.resolve();
      await quiet();
      if (ranFor === 0) manager.clock.advance(10_000);
      await quiet();
    }
    expect(manager.health()).toEqual(["fake:default degraded: restarts in 5s: it ended on its own without an error"]);
  });

  test.each([
    ["marked permanent", Object.assign(new Error("401 Unauthorized"), { permanent: true })],
    ["a delivery that failed", Object.assign(new Error("401 Unauthorized"), { delivery: { state: "failed" } })],
    ["permanent by its cause", new Error("401 Unauthorized", { cause: { permanent: true } })],
  ])("stays down at once when the error is %s", async (_what, error) => {
    const fake = fakeChannel();
    const manager = fakeManager([fake.plugin]);
    await manager.channels.start();
    await quiet();
    fake.runs[0]!.reject(error);
    await quiet();
    manager.clock.advance(3_600_000);
    await quiet();
    expect(fake.runs).toHaveLength(1);
    expect(manager.health()).toEqual(["fake:default down: 401 Unauthorized"]);
    expect(manager.channels.accounts()[0]!.snapshot).toMatchObject({ running: false, lastError: "401 Unauthorized" });
  });

  test("stays down when the plugin reported a logout", async () => {
    const fake = fakeChannel();
    const manager = fakeManager([fake.plugin]);
    await manager.channels.start();
    await quiet();
    fake.runs[0]!.ctx.setStatus({ accountId: "default", connected: false, lastDisconnect: { at: 1, loggedOut: true } });
    fake.runs[0]!.resolve();
    await quiet();
    manager.clock.advance(3_600_000);
    await quiet();
    expect(fake.runs).toHaveLength(1);
    expect(manager.health()[0]).toMatch(/^fake:default down: logged out/);
  });

  test("stopping cancels a pending restart", async () => {
    const fake = fakeChannel();
    const manager = fakeManager([fake.plugin]);
    await manager.channels.start();
    await quiet();
    fake.runs[0]!.reject(new Error("lost"));
    await quiet();
    await manager.channels.stopAccount("fake");
    manager.clock.advance(3_600_000);
    await quiet();
    expect(fake.runs).toHaveLength(1);
  });
});

describe("an older plugin, which connects and returns", () => {
  test.each([["connected"], ["running"]])("is not restarted in a loop when it said that it is %s", async (flag) => {
    const fake = fakeChannel({ stops: false });
    const manager = fakeManager([fake.plugin]);
    await manager.channels.start();
    await quiet();
    fake.runs[0]!.ctx.setStatus({ accountId: "default", [flag]: true });
    fake.runs[0]!.resolve();
    await quiet();
    manager.clock.advance(3_600_000);
    await quiet();
    expect(fake.runs).toHaveLength(1);
    expect(manager.health()).toEqual(["fake:default ok"]);
    await manager.channels.stopAccount("fake");
    expect(fake.runs[0]!.ctx.abortSignal.aborted).toBe(true);
  });

  test("still delivers messages after it returned", async () => {
    const fake = fakeChannel({ stops: false });
    const manager = fakeManager([fake.plugin]);
    await manager.channels.start();
    await quiet();
    fake.runs[0]!.ctx.setStatus({ accountId: "default", connected: true });
    fake.runs[0]!.resolve();
    await quiet();
    await fake.runs[0]!.ctx.inbound!.accept(message("1"));
    expect(manager.accepted).toHaveLength(1);
  });

  test("is restarted when it reports that it no longer runs", async () => {
    const fake = fakeChannel({ stops: false });
    const manager = fakeManager([fake.plugin]);
    await manager.channels.start();
    await quiet();
    fake.runs[0]!.ctx.setStatus({ accountId: "default", running: true });
    fake.runs[0]!.resolve();
    await quiet();
    fake.runs[0]!.ctx.setStatus({ accountId: "default", running: false, lastError: "closed" });
    await quiet();
    expect(manager.health()).toEqual(["fake:default degraded: restarts in 5s: closed"]);
    manager.clock.advance(5000);
    await quiet();
    expect(fake.runs).toHaveLength(2);
  });

  test("has lost its connection when it returns late, whatever it reported before", async () => {
    const fake = fakeChannel();
    const manager = fakeManager([fake.plugin]);
    await manager.channels.start();
    await quiet();
    fake.runs[0]!.ctx.setStatus({ accountId: "default", running: true, connected: true });
    manager.clock.advance(31_000);
    fake.runs[0]!.resolve();
    await quiet();
    expect(manager.health()[0]).toMatch(/^fake:default degraded: restarts in 5s/);
  });
});
