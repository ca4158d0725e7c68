import { expect, test } from "vitest";
import { createChannelActivity } from "../inbound/index.ts";
import { fakeChannel, fakeHouse, quiet, type FakeHouse, type FakeOptions } from "./fake-channel.fixture.ts";

const outbound = (independent: boolean): FakeOptions => ({
  more: { outbound: { deliveryMode: "direct", independent, sendText: async () => ({ channel: "fake", messageId: "1" }) } },
});

async function started(
  options: FakeOptions,
  more: Parameters<typeof fakeHouse>[2] = {},
): Promise<FakeHouse & { readonly fake: ReturnType<typeof fakeChannel> }> {
  const fake = fakeChannel(options);
  const house = fakeHouse([fake.plugin], undefined, more);
  await house.channels.start();
  await quiet();
  return { fake, ...house };
}

const shown = async ({ channels }: FakeHouse) => {
  const { receiving, sending, health } = (await channels.status()).channelAccounts["fake"]![0]! as never as Record<string, { state: string }>;
  return { receiving, sending, health };
};

test("an account that sends by itself may send while it does not receive, and says what is wrong with receiving at once", async () => {
  const house = await started(outbound(true));
  const [{ ctx }] = house.fake.runs as never as [{ ctx: { setStatus(next: object): void } }];
  ctx.setStatus({ accountId: "default", connected: true });
  expect(await shown(house)).toMatchObject({ receiving: { state: "ok" }, sending: { state: "ok" }, health: { state: "ok" } });
  const receiving = { state: "conflict", text: "409", fix: "stop the other one" };
  ctx.setStatus({ accountId: "default", connected: false, lastError: "409", receiving });
  expect(house.channels.canSend("fake", "default")).toBe(true);
  expect(house.channels.isReceiving("fake", "default")).toBe(false);
  expect(await shown(house)).toMatchObject({ receiving, sending: { state: "ok" }, health: { state: "degraded", why: "not receiving: 409" } });
  ctx.setStatus({ accountId: "default", connected: true, receiving: undefined, lastError: null });
  expect(await shown(house)).toMatchObject({ receiving: { state: "ok" }, health: { state: "ok" } });
});

test("over one connection for both, what is to be sent waits for it", async () => {
  const house = await started(outbound(false));
  const [{ ctx }] = house.fake.runs as never as [{ ctx: { setStatus(next: object): void } }];
  ctx.setStatus({ accountId: "default", connected: false, lastError: "no route" });
  expect(house.channels.canSend("fake", "default")).toBe(false);
  expect(await shown(house)).toMatchObject({ receiving: { state: "error", text: "no route" }, sending: { state: "waiting" } });
});

test("an account that receives and cannot send is degraded until something is sent", async () => {
  const time = { now: (): number => 0 };
  const activity = createChannelActivity({ now: () => time.now() });
  const house = await started(outbound(true), { activity });
  time.now = () => house.clock.now();
  const [{ ctx }] = house.fake.runs as never as [{ ctx: { setStatus(next: object): void } }];
  ctx.setStatus({ accountId: "default", connected: true });
  activity.sendFailed({ channel: "fake", accountId: "default", why: "sendMessage: no answer" });
  expect(await shown(house)).toMatchObject({
    receiving: { state: "ok" },
    sending: { state: "error", text: "sendMessage: no answer" },
    health: { state: "degraded" },
  });
  activity.record({ channel: "fake", accountId: "default", direction: "outbound" });
  expect(await shown(house)).toMatchObject({ sending: { state: "ok" }, health: { state: "ok" } });
});

test("one that was stopped by hand does neither", async () => {
  const house = await started(outbound(true));
  await house.channels.stopAccount("fake");
  expect(house.channels.canSend("fake", "default")).toBe(false);
  expect(await shown(house)).toMatchObject({ receiving: { state: "stopped" }, sending: { state: "stopped" } });
});
