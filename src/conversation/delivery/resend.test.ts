import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { ChannelPlugin } from "../../protocol/index.ts";
import { createWhy } from "../why/create-why.ts";
import { ADDRESS, failing, fakeChannel, openWorld, type FakeChannel, type Reaction, type World } from "./delivery.fixture.ts";

/** One store for all: each test has a target of its own. */
let world: World;
let address = ADDRESS;
let count = 0;
beforeAll(async () => {
  world = await openWorld(fakeChannel());
});
beforeEach(() => {
  address = { ...ADDRESS, to: `chat-${(count += 1)}` };
});
afterAll(() => world[Symbol.asyncDispose]());

const revoked = failing("Chat refused send: 401 token revoked", { status: 401, permanent: true, delivery: { state: "failed" } });

function channelThat(reactions: readonly Reaction[], over: Partial<ChannelPlugin> = {}): FakeChannel {
  const channel = fakeChannel(reactions, {}, over);
  world.channels.set("chat", channel);
  return channel;
}

const row = async () => (await world.rows(address.to)).at(-1)!;
const todoOf = async (id: number) => (await createWhy({ store: world.store, now: world.clock.now }).tell(`out:${id}`))[0]!.verdict;
const answer = { kind: "final" } as const;

test("an answer that meets a revoked credential waits for the account, and is sent late when the credential works again", async () => {
  let works = false;
  const probes: boolean[] = [];
  const channel = channelThat([revoked], {
    status: {
      async probeAccount() {
        probes.push(works);
        return { ok: works };
      },
    },
  });
  const report = await world.delivery.send(address, [{ text: "hello" }], answer);
  expect(report).toMatchObject({ state: "pending", why: "waiting for the account: Chat refused send: 401 token revoked" });
  expect(await todoOf((await row()).id)).toMatchObject({ level: "wait", todo: expect.stringContaining("openclaw channels status --probe") });
  await world.drain(() => probes.length >= 3);
  await world.restart();
  world.delivery.kick();
  await world.drain(() => probes.length >= 6);
  expect(channel.sent).toHaveLength(1);
  works = true;
  await world.drain(() => channel.sent.length === 2);
  expect(channel.sent.map(({ text }) => text)).toEqual(["hello", "(late) hello"]);
  await world.drain(() => world.delivery.open() === 0);
  expect(await row()).toMatchObject({ state: "sent", attempts: 2 });
});

test("a credential that stays refused is tried less and less often, and the message is given up with the reason when its time is over", async () => {
  const channel = channelThat(
    Array.from({ length: 1000 }, () => revoked),
    { status: { probeAccount: () => Promise.resolve({ ok: true }) } },
  );
  expect((await world.delivery.send(address, [{ text: "hello" }], answer)).state).toBe("pending");
  const { id } = await row();
  for (let part = 0; part < 300; part += 1) {
    world.clock.advance(300_000);
    await world.turn();
    await world.turn();
  }
  await world.drain(() => world.delivery.open() === 0);
  expect(await row()).toMatchObject({ id, state: "failed", why: expect.stringMatching(/^expired: waiting for the account: .*revoked$/) });
  expect(channel.sent.length).toBeLessThan(160);
});

test("a message that was given up is sent again on request, once; its trace says so", async () => {
  const gone = failing("chat not found", { status: 404 });
  const channel = channelThat([gone, gone]);
  expect((await world.delivery.send(address, [{ text: "hello" }], answer)).state).toBe("failed");
  const { id } = await row();
  expect(await todoOf(id)).toMatchObject({ level: "bad", todo: expect.stringMatching(new RegExp(`openclaw message resend out:${id}$`)) });
  expect((await world.settle(world.delivery.resend(id))).state).toBe("failed");
  const [first, second] = await Promise.all([world.delivery.resend(id), world.delivery.resend(id)]);
  expect([first.state, second.rowIds, first.to]).toEqual(["sent", first.rowIds, address.to]);
  expect(channel.sent.map(({ text }) => text)).toEqual(["hello", "hello", "hello"]);
  expect(await todoOf(id)).toMatchObject({ level: "ok", text: expect.stringContaining("sent as message m3") });
  await expect(world.delivery.resend(id)).rejects.toMatchObject({ code: "CONFLICT", message: expect.stringContaining("it was sent as message m3") });
  await expect(world.delivery.resend(999_999)).rejects.toMatchObject({ code: "NOT_FOUND" });
});

test("what may have arrived is marked when it is sent again on request", async () => {
  const reset = failing("socket hang up", { code: "ECONNRESET" });
  const channel = channelThat([reset, reset], { status: { probeAccount: () => Promise.resolve({ ok: true }) } });
  expect((await world.settle(world.delivery.send(address, [{ text: "hello" }], answer, 86_000_000))).state).toBe("failed");
  expect((await world.settle(world.delivery.resend((await row()).id))).state).toBe("sent");
  expect(channel.sent.at(-1)!.text).toBe("(repeat?) hello");
});
