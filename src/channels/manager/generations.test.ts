import { describe, expect, test } from "vitest";
import { fakeChannel, fakeHouse, message, quiet } from "./fake-channel.fixture.ts";

const two = { channels: { fake: { accounts: { a: { token: "1" }, b: { token: "2" } } } } };

describe("generations", () => {
  test("what an older connection still says is ignored, and what it brings is refused", async () => {
    const fake = fakeChannel();
    const house = fakeHouse([fake.plugin]);
    await house.channels.start();
    await quiet();
    await house.channels.restart("fake");
    await quiet();
    const [old, current] = fake.runs;
    old!.ctx.setStatus({ accountId: "default", connected: true, lastError: "ghost" });
    await expect(old!.ctx.inbound!.accept(message("1"))).rejects.toMatchObject({ code: "UNAVAILABLE", message: expect.stringContaining("connection 1") });
    current!.ctx.setStatus({ accountId: "default", connected: true, mode: "polling" });
    await current!.ctx.inbound!.accept(message("2"));
    expect(house.accepted).toEqual([{ channel: "fake", accountId: "default", id: "2" }]);
    expect(house.channels.accounts()[0]!.snapshot).toMatchObject({ connected: true, lastError: null, mode: "polling" });
  });

  test("a connection that did not stop counts as old from then on", async () => {
    const fake = fakeChannel({ stops: false });
    const house = fakeHouse([fake.plugin]);
    await house.channels.start();
    await quiet();
    const stopping = house.channels.stopAccount("fake");
    await quiet();
    await fake.runs[0]!.ctx.inbound!.accept(message("while it stops"));
    house.clock.advance(10_000);
    await stopping;
    await expect(fake.runs[0]!.ctx.inbound!.accept(message("after"))).rejects.toMatchObject({ code: "UNAVAILABLE" });
    fake.runs[0]!.ctx.setStatus({ accountId: "default", connected: true });
    expect(house.accepted.map(({ id }) => id)).toEqual(["while it stops"]);
    expect(house.channels.accounts()[0]!.snapshot).toMatchObject({ connected: false });
  });

  test("an account cannot speak for another one", async () => {
    const fake = fakeChannel();
    const house = fakeHouse([fake.plugin], two);
    await house.channels.start();
    await quiet();
    fake.runs[0]!.ctx.setStatus({ accountId: "b", connected: true });
    expect(house.channels.accounts().map(({ snapshot }) => [snapshot.accountId, snapshot.connected])).toEqual([
      ["a", true],
      ["b", undefined],
    ]);
  });
});
