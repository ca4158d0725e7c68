import { expect, test } from "vitest";
import { CONFIGURED, fakeChannel, fakeManager, quiet, type FakeManager, type FakeOptions } from "./fake-channel.fixture.ts";

async function started(options: FakeOptions = {}): Promise<FakeManager & { readonly fake: ReturnType<typeof fakeChannel> }> {
  const fake = fakeChannel(options);
  const manager = fakeManager([fake.plugin]);
  await manager.channels.start();
  await quiet();
  return { fake, ...manager };
}

const snapshot = ({ channels }: FakeManager) => channels.accounts()[0]!.snapshot;

test("an account stopped by hand reports that, sends nothing, and runs again when started", async () => {
  const manager = await started();
  const { fake, channels } = manager;
  expect(await channels.stopAccount("fake")).toEqual({ channel: "fake", accountId: "default", running: false, stoppedByHand: true });
  expect([fake.open(), channels.canSend("fake", "default"), snapshot(manager).stoppedByHand]).toEqual([0, false, true]);
  expect((await channels.status()).channelAccounts["fake"]).toMatchObject([{ running: false, stoppedByHand: true, health: { why: "stopped manually" } }]);
  expect(await channels.startAccount("fake")).toEqual({ channel: "fake", accountId: "default", running: true });
  await quiet();
  expect([fake.open(), channels.canSend("fake", "default"), snapshot(manager).stoppedByHand]).toEqual([1, true, undefined]);
});

test("stopping and starting are idempotent", async () => {
  const { fake, channels } = await started();
  await channels.startAccount("fake");
  expect(fake.runs).toHaveLength(1);
  await channels.stopAccount("fake");
  expect(await channels.stopAccount("fake")).toMatchObject({ stoppedByHand: true });
  await Promise.all([channels.startAccount("fake"), channels.startAccount("fake")]);
  await quiet();
  expect([fake.runs.length, fake.open()]).toEqual([2, 1]);
});

test("a restart replaces a running connection; for a stopped account it starts one", async () => {
  const { fake, channels } = await started();
  await channels.startAccount("fake", undefined, { restart: true });
  await quiet();
  expect([fake.runs.length, fake.open()]).toEqual([2, 1]);
  await channels.stopAccount("fake");
  await channels.startAccount("fake", "default", { restart: true });
  await quiet();
  expect([fake.runs.length, fake.open()]).toEqual([3, 1]);
});

test("it stays stopped while its settings change and its plugin is reloaded", async () => {
  const manager = await started();
  const { channels, configure, plugins } = manager;
  await channels.stopAccount("fake");
  configure({ channels: { fake: { token: "another" } } });
  await channels.reload(["channels.fake.token"]);
  const next = fakeChannel();
  plugins[0] = next.plugin;
  await channels.pluginsChanged();
  await quiet();
  expect([next.runs.length, snapshot(manager).stoppedByHand]).toEqual([0, true]);
  await channels.startAccount("fake");
  await quiet();
  expect(next.runs[0]?.ctx.account.token).toBe("another");
});

test("disabling clears the manual stop: enabled again it runs", async () => {
  const { fake, channels, configure, health } = await started();
  await channels.stopAccount("fake");
  configure({ channels: { fake: { token: "t", enabled: false } } });
  await channels.reload(["channels.fake.enabled"]);
  expect(health()).toEqual([]);
  await expect(channels.startAccount("fake")).rejects.toMatchObject({ code: "CONFLICT", message: expect.stringContaining("turned off") as string });
  configure(CONFIGURED);
  await channels.reload(["channels.fake.enabled"]);
  await quiet();
  expect(fake.open()).toBe(1);
});

test("a send-only channel can be stopped by hand, too", async () => {
  const { channels } = await started({ more: { gateway: {} } });
  expect(channels.canSend("fake", "default")).toBe(true);
  await channels.stopAccount("fake");
  expect(channels.canSend("fake", "default")).toBe(false);
  await channels.startAccount("fake");
  expect(channels.canSend("fake", "default")).toBe(true);
});

test("stopping cancels the pending retry", async () => {
  const { fake, channels, clock } = await started();
  fake.runs[0]!.reject(new Error("gone"));
  await quiet();
  await channels.stopAccount("fake");
  clock.advance(3_600_000);
  await quiet();
  expect(fake.runs).toHaveLength(1);
});
