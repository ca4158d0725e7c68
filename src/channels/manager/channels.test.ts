import { describe, expect, test } from "vitest";
import { createChannelActivity } from "./health.ts";
import { manualClock } from "../../base/clock.ts";
import { affectedAccounts } from "./channels.ts";
import { CONFIGURED, fakeChannel, fakeManager, message, quiet, type FakeOptions } from "./fake-channel.fixture.ts";

const two = { channels: { fake: { accounts: { a: { token: "1" }, b: { token: "2" } } } } };

async function started(options: FakeOptions = {}, config = CONFIGURED) {
  const fake = fakeChannel(options);
  const manager = fakeManager([fake.plugin], config);
  await manager.channels.start();
  await quiet();
  return { fake, ...manager };
}

describe("health reflects the transport and its traffic", () => {
  test("starting until it is connected; degraded when it is not for more than 30 s; ok again", async () => {
    const { fake, clock, health } = await started();
    const say = (connected: boolean) => fake.runs[0]!.ctx.setStatus({ accountId: "default", connected });
    say(false);
    clock.advance(30_000);
    expect(health()).toEqual(["fake:default starting: not connected"]);
    clock.advance(1);
    expect(health()).toEqual(["fake:default degraded: not connected for 30s"]);
    say(true);
    expect(health()).toEqual(["fake:default ok"]);
    clock.advance(3_600_000);
    say(false);
    clock.advance(20_000);
    expect(health()).toEqual(["fake:default ok: not connected"]);
    say(false);
    clock.advance(11_000);
    expect(health()).toEqual(["fake:default degraded: not connected for 31s"]);
  });

  test("a plugin without status is starting for 30 s, then ok", async () => {
    const { clock, health } = await started();
    expect(health()).toEqual(["fake:default starting"]);
    clock.advance(30_001);
    expect(health()).toEqual(["fake:default ok"]);
  });

  test("with a declared heartbeat, silence is degraded even while connected", async () => {
    const { fake, clock, health } = await started({ more: { status: { staleAfterMs: 60_000 } } });
    const { ctx } = fake.runs[0]!;
    ctx.setStatus({ accountId: "default", connected: true });
    clock.advance(60_001);
    expect(health()).toEqual(["fake:default degraded: connected, but nothing received for 1m"]);
    ctx.setStatus({ accountId: "default", lastEventAt: clock.now() });
    expect(health()).toEqual(["fake:default ok"]);
    clock.advance(50_000);
    await ctx.inbound!.accept(message("1"));
    clock.advance(50_000);
    expect(health()).toEqual(["fake:default ok"]);
  });

  test("listeners are notified when the state changes", async () => {
    const { fake, changes } = await started();
    fake.runs[0]!.ctx.setStatus({ accountId: "default", connected: true });
    fake.runs[0]!.ctx.setStatus({ accountId: "default", connected: true });
    fake.runs[0]!.reject(new Error("lost"));
    await quiet();
    expect(changes.map(({ state }) => state)).toEqual(["starting", "ok", "degraded"]);
  });
});

describe("the snapshot of an account", () => {
  test("times of starting, connecting, of messages in and out", async () => {
    const clock = manualClock();
    const activity = createChannelActivity(clock);
    const fake = fakeChannel();
    const manager = fakeManager([fake.plugin], CONFIGURED, { clock, activity });
    await manager.channels.start();
    await quiet();
    const startedAt = clock.now();
    clock.advance(1000);
    fake.runs[0]!.ctx.setStatus({ accountId: "default", connected: true });
    clock.advance(1000);
    await fake.runs[0]!.ctx.inbound!.accept(message("1"));
    activity.record({ channel: "fake", accountId: "default", direction: "outbound", at: startedAt + 5000 });
    expect(manager.channels.accounts()).toEqual([
      {
        channel: "fake",
        snapshot: expect.objectContaining({
          lastStartAt: startedAt,
          lastConnectedAt: startedAt + 1000,
          lastInboundAt: startedAt + 2000,
          lastEventAt: startedAt + 2000,
          lastOutboundAt: startedAt + 5000,
          enabled: true,
          configured: true,
        }),
      },
    ]);
    expect(activity.get({ channel: "fake" }).inboundAt).toBe(startedAt + 2000);
  });

  test("a message that was not accepted does not count as received", async () => {
    const fake = fakeChannel();
    const manager = fakeManager([fake.plugin], CONFIGURED, { inbound: () => ({ accept: () => Promise.reject(new Error("full")) }) });
    await manager.channels.start();
    await quiet();
    await expect(fake.runs[0]!.ctx.inbound!.accept(message("1"))).rejects.toThrow("full");
    expect(manager.channels.accounts()[0]!.snapshot.lastInboundAt).toBeUndefined();
  });
});

describe("reload", () => {
  test.each<[string, { configPrefixes: string[]; noopPrefixes?: string[] } | undefined, string[], "all" | string[]]>([
    ["its section by default", undefined, ["channels.fake.token"], "all"],
    ["the section as a whole", undefined, ["channels"], "all"],
    ["another channel's", undefined, ["channels.faker.token", "agents.list"], []],
    ["one account's settings", undefined, ["channels.fake.accounts.a.token"], ["a"]],
    ["one account's and the common ones", undefined, ["channels.fake.accounts.a.token", "channels.fake.token"], "all"],
    ["a prefix of its own", { configPrefixes: ["web"] }, ["web.heartbeatSeconds"], "all"],
    ["no prefix of its own", { configPrefixes: ["web"] }, ["channels.fake.token"], []],
    ["one that needs nothing", { configPrefixes: ["web"], noopPrefixes: ["channels.fake"] }, ["channels.fake.token"], []],
    ["the longest prefix: nothing", { configPrefixes: ["channels.fake"], noopPrefixes: ["channels.fake.groups"] }, ["channels.fake.groups.x"], []],
    ["the longest prefix: restart", { configPrefixes: ["channels.fake.net"], noopPrefixes: ["channels.fake"] }, ["channels.fake.net.proxy"], "all"],
    ["not a prefix of a word", { configPrefixes: ["web"] }, ["webhooks.x"], []],
  ])("%s", (_what, reload, changed, expected) => {
    const found = affectedAccounts({ id: "fake", reload }, changed);
    expect(found === "all" ? "all" : [...found]).toEqual(expected);
  });

  test("restarts what changed, starts what came, stops what went or was switched off, and leaves the rest alone", async () => {
    const { fake, channels, configure } = await started(
      {},
      { channels: { fake: { accounts: { a: { token: "1" }, b: { token: "2" }, c: { token: "3" }, d: { token: "4" } } } } },
    );
    configure({ channels: { fake: { accounts: { a: { token: "1" }, b: { token: "new" }, c: { token: "3", enabled: false }, e: { token: "5" } } } } });
    await channels.reload(["channels.fake.accounts.b.token", "channels.fake.accounts.c.enabled", "channels.fake.accounts.d", "channels.fake.accounts.e"]);
    await quiet();
    const open = fake.runs.filter(({ settled }) => !settled).map(({ ctx }) => `${ctx.accountId} ${ctx.account.token}`);
    expect(open.toSorted()).toEqual(["a 1", "b new", "e 5"]);
    expect(fake.runs).toHaveLength(6);
  });

  test("an account stopped by hand stays stopped when something else changes", async () => {
    const { fake, channels } = await started();
    await channels.stopAccount("fake");
    await channels.reload(["agents.list"]);
    expect(fake.runs).toHaveLength(1);
  });
});

describe("plugins that come and go", () => {
  test("accounts of a reloaded plugin run with the new one; others are left alone", async () => {
    const { fake, channels, plugins } = await started();
    const next = fakeChannel();
    plugins[0] = next.plugin;
    await channels.pluginsChanged();
    await quiet();
    expect([fake.open(), next.open()]).toEqual([0, 1]);
    await channels.pluginsChanged();
    expect(next.runs).toHaveLength(1);
  });

  test("a removed channel is stopped; an added one is started", async () => {
    const { fake, channels, plugins, configure, health } = await started();
    const other = fakeChannel({ id: "other" });
    configure({ channels: { fake: { token: "t" }, other: { token: "t" } } });
    plugins.splice(0, 1, other.plugin);
    await channels.pluginsChanged();
    await quiet();
    expect([fake.open(), other.open()]).toEqual([0, 1]);
    expect(health()).toEqual(["other:default starting"]);
  });
});

describe("status", () => {
  test("has the documented shape, in the documented order, without secrets", async () => {
    const fake = fakeChannel({
      more: {
        status: { collectStatusIssues: ([account]) => [{ channel: "fake", accountId: account!.accountId, kind: "config", message: "odd", fix: "turn it" }] },
      },
    });
    const telegram = fakeChannel({ id: "telegram" });
    const described = {
      ...fake.plugin,
      config: { ...fake.plugin.config, describeAccount: () => ({ accountId: "default", tokenSource: "config", channelAccessToken: "s3cret" }) },
    };
    const manager = fakeManager([described, telegram.plugin], { channels: { fake: { token: "t" }, telegram: {} } });
    await manager.channels.start();
    await quiet();
    const status = await manager.channels.status();
    expect(status).toMatchObject({
      ts: manager.clock.now(),
      channelOrder: ["telegram", "fake"],
      channelLabels: { fake: "FAKE", telegram: "TELEGRAM" },
      channelMeta: [{ id: "telegram", label: "TELEGRAM", detailLabel: "TELEGRAM" }, { id: "fake" }],
      channels: { fake: { configured: true }, telegram: { configured: false } },
      channelDefaultAccountId: { fake: "default", telegram: "default" },
    });
    expect(status.channelAccounts["fake"]).toEqual([
      expect.objectContaining({
        accountId: "default",
        running: true,
        enabled: true,
        tokenSource: "config",
        health: { state: "starting", why: "" },
        issues: [expect.objectContaining({ fix: "turn it" })],
      }),
    ]);
    expect(status.channelAccounts["telegram"]).toEqual([{ accountId: "default", enabled: true, configured: false, running: false, connected: false }]);
    expect(JSON.stringify(status)).not.toContain("s3cret");
  });

  test("a secret in a plugin's status is masked", async () => {
    const token = "123456789:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    const { fake, channels, health } = await started({ more: { status: { probeAccount: () => Promise.reject(new Error(`GET /bot${token}/getMe`)) } } });
    fake.runs[0]!.reject(Object.assign(new Error(`POST /bot ${token} 401`), { permanent: true }));
    await quiet();
    expect(JSON.stringify([await channels.status({ probe: true }), health()])).not.toContain("AAAAAAAAAAAAAAAAAAAA");
  });

  test("a probe that hangs or fails is a result, and delays nobody beyond the timeout", async () => {
    const hangs = fakeChannel({ more: { status: { probeAccount: () => new Promise(() => {}), auditAccount: () => Promise.reject(new Error("not asked")) } } });
    const fails = fakeChannel({ id: "fails", more: { status: { probeAccount: () => Promise.reject(new Error("refused")) } } });
    const works = fakeChannel({
      id: "works",
      more: { status: { probeAccount: async ({ timeoutMs }) => ({ ok: true, timeoutMs }), auditAccount: async ({ probe }) => ({ seen: probe }) } },
    });
    const all = { fake: { token: "t" }, fails: { token: "t" }, works: { token: "t" } };
    const manager = fakeManager([hangs.plugin, fails.plugin, works.plugin], { channels: all });
    const asked = manager.channels.status({ probe: true, timeoutMs: 5 });
    await quiet();
    manager.clock.advance(1000);
    const { channelAccounts } = await asked;
    expect(channelAccounts["fake"]![0]).toMatchObject({ probe: { ok: false, error: "the probe did not finish within 1000 ms" } });
    expect(channelAccounts["fails"]![0]).toMatchObject({ probe: { ok: false, error: "refused" }, lastProbeAt: expect.any(Number) });
    expect(channelAccounts["works"]![0]).toMatchObject({ probe: { ok: true, timeoutMs: 1000 }, audit: { seen: { ok: true } } });
  });

  test("nothing is probed without the option, nor for disabled accounts", async () => {
    let probes = 0;
    const fake = fakeChannel({ more: { status: { probeAccount: async () => ((probes += 1), { ok: true }) } } });
    const manager = fakeManager([fake.plugin], { channels: { fake: { token: "t", enabled: false } } });
    await manager.channels.status();
    await manager.channels.status({ probe: true });
    expect(probes).toBe(0);
  });

  test("invalid values of a plugin do not break the result", async () => {
    const circle: Record<string, unknown> = {};
    circle["self"] = circle;
    const fake = fakeChannel({
      more: {
        status: {
          probeAccount: async () => circle,
          buildChannelSummary: () => {
            throw new Error("no summary");
          },
          collectStatusIssues: () => {
            throw new Error("no issues");
          },
        },
      },
    });
    const broken = fakeChannel({
      id: "broken",
      more: {
        config: {
          listAccountIds: () => {
            throw new Error("cannot count");
          },
          resolveAccount: () => ({}) as never,
        },
      },
    });
    const manager = fakeManager([fake.plugin, broken.plugin]);
    const status = await manager.channels.status({ probe: true });
    expect(status.channelAccounts).toMatchObject({ fake: [{ accountId: "default", lastError: expect.stringContaining("cannot be shown") }], broken: [] });
    expect(status.channels).toMatchObject({ broken: { configured: false, lastError: "cannot count" } });
  });
});

describe("logging in and out", () => {
  test("logout stops the account first, then removes its login, and it stays down", async () => {
    const order: string[] = [];
    const { fake, channels, health } = await started({
      gateway: {
        logoutAccount: async () => (order.push(`logout with ${fake.open()} open`), { cleared: true, loggedOut: true, envToken: false, token: "s3cret" }),
      },
    });
    expect(await channels.logout("fake")).toEqual({ channel: "fake", accountId: "default", cleared: true, loggedOut: true, envToken: false });
    expect(order).toEqual(["logout with 0 open"]);
    expect(health()).toEqual(["fake:default down: logged out"]);
    expect(channels.accounts()[0]!.snapshot).toMatchObject({ linked: false, running: false });
  });

  test("a channel without logout reports that, and keeps running", async () => {
    const { fake, channels } = await started();
    await expect(channels.logout("fake")).rejects.toMatchObject({ code: "INVALID_INPUT", message: expect.stringContaining("channels.fake") });
    await expect(channels.logout("nothing")).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(channels.logout("fake", "nobody")).rejects.toMatchObject({ code: "NOT_FOUND", message: expect.stringContaining("it has default") });
    expect(fake.open()).toBe(1);
  });

  test("a QR login stops the account while it runs, and starts it afterwards", async () => {
    const scanned = [false, true];
    const { fake, channels } = await started({
      gateway: {
        loginWithQrStart: async ({ force }) => ({ message: `scan it, ${fake.open()} open, force ${force}`, qrDataUrl: "data:image/png;base64," }),
        loginWithQrWait: async () => ({ connected: scanned.shift()!, message: "" }),
      },
    });
    expect(await channels.loginQrStart({ force: true })).toMatchObject({ message: "scan it, 0 open, force true" });
    expect(await channels.loginQrWait({})).toMatchObject({ connected: false });
    expect(fake.open()).toBe(0);
    await channels.loginQrWait({});
    await quiet();
    expect(fake.open()).toBe(1);
  });

  test("without a channel that supports QR logins the error says so", async () => {
    const { channels } = await started();
    await expect(channels.loginQrStart({})).rejects.toMatchObject({ code: "UNAVAILABLE" });
  });
});

test("accounts of one channel are independent: stopping one leaves the other", async () => {
  const { fake, channels, health } = await started({}, two);
  await channels.stopAccount("fake", "a");
  expect(fake.open()).toBe(1);
  expect(health()).toEqual(["fake:a down: stopped manually", "fake:b starting"]);
  await channels.restart("fake");
  await quiet();
  expect([fake.runs.length, fake.open()]).toEqual([4, 2]);
  expect(channels.capabilities("fake")).toEqual({ chatTypes: ["direct"] });
  expect(channels.capabilities("nothing")).toBeUndefined();
});
