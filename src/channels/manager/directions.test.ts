import { expect, test } from "vitest";
import { createChannelActivity } from "./health.ts";
import { fakeChannel, fakeManager, quiet, type FakeManager, type FakeOptions } from "./fake-channel.fixture.ts";

const outbound = (independent: boolean): FakeOptions => ({
  more: { outbound: { deliveryMode: "direct", independent, sendText: async () => ({ channel: "fake", messageId: "1" }) } },
});

async function started(
  options: FakeOptions,
  more: Parameters<typeof fakeManager>[2] = {},
): Promise<FakeManager & { readonly fake: ReturnType<typeof fakeChannel> }> {
  const fake = fakeChannel(options);
  const manager = fakeManager([fake.plugin], undefined, more);
  await manager.channels.start();
  await quiet();
  return { fake, ...manager };
}

const shown = async ({ channels }: FakeManager) => {
  const { receiving, sending, health } = (await channels.status()).channelAccounts["fake"]![0]! as never as Record<string, { state: string }>;
  return { receiving, sending, health };
};

test("an account with independent sending may send while it does not receive, and reports the receiving error at once", async () => {
  const manager = await started(outbound(true));
  const [{ ctx }] = manager.fake.runs as never as [{ ctx: { setStatus(next: object): void } }];
  ctx.setStatus({ accountId: "default", connected: true });
  expect(await shown(manager)).toMatchObject({ receiving: { state: "ok" }, sending: { state: "ok" }, health: { state: "ok" } });
  const receiving = { state: "conflict", text: "409", fix: "stop the other one" };
  ctx.setStatus({ accountId: "default", connected: false, lastError: "409", receiving });
  expect(manager.channels.canSend("fake", "default")).toBe(true);
  expect(manager.channels.isReceiving("fake", "default")).toBe(false);
  expect(await shown(manager)).toMatchObject({ receiving, sending: { state: "ok" }, health: { state: "degraded", why: "not receiving: 409" } });
  ctx.setStatus({ accountId: "default", connected: true, receiving: undefined, lastError: null });
  expect(await shown(manager)).toMatchObject({ receiving: { state: "ok" }, health: { state: "ok" } });
});

test("with one connection for both, sending waits for it", async () => {
  const manager = await started(outbound(false));
  const [{ ctx }] = manager.fake.runs as never as [{ ctx: { setStatus(next: object): void } }];
  ctx.setStatus({ accountId: "default", connected: false, lastError: "no route" });
  expect(manager.channels.canSend("fake", "default")).toBe(false);
  expect(await shown(manager)).toMatchObject({ receiving: { state: "error", text: "no route" }, sending: { state: "waiting" } });
});

test("an account that receives and cannot send is degraded until something is sent", async () => {
  const time = { now: (): number => 0 };
  const activity = createChannelActivity({ now: () => time.now() });
  const manager = await started(outbound(true), { activity });
  time.now = () => manager.clock.now();
  const [{ ctx }] = manager.fake.runs as never as [{ ctx: { setStatus(next: object): void } }];
  ctx.setStatus({ accountId: "default", connected: true });
  activity.sendFailed({ channel: "fake", accountId: "default", why: "sendMessage: no answer" });
  expect(await shown(manager)).toMatchObject({
    receiving: { state: "ok" },
    sending: { state: "error", text: "sendMessage: no answer" },
    health: { state: "degraded" },
  });
  activity.record({ channel: "fake", accountId: "default", direction: "outbound" });
  expect(await shown(manager)).toMatchObject({ sending: { state: "ok" }, health: { state: "ok" } });
});

test("an account stopped by hand does neither", async () => {
  const manager = await started(outbound(true));
  await manager.channels.stopAccount("fake");
  expect(manager.channels.canSend("fake", "default")).toBe(false);
  expect(await shown(manager)).toMatchObject({ receiving: { state: "stopped" }, sending: { state: "stopped" } });
});
